import { endpoints as everyEndpoint } from '../endpoints/all.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { problems } from '../kernel/errors.ts';
import { FEATURE_LEVEL } from '../model/realm/realm.ts';
import { areas } from './areas.ts';
import { errorExamples } from './error-examples.ts';
import { type Code, errorShape, generalCodes } from './errors.ts';
import { eventShapes } from './event-shapes.ts';
import { type JsonSchema, jsonSchema, referring } from './json-schema.ts';
import { errorName, errorRef, operationOf } from './operation.ts';
import { anyEvent, shapes } from './shapes.ts';

const DESCRIPTION = `Parlance is a team chat service that speaks Zulip's REST API at feature level ${FEATURE_LEVEL}.

**Credentials** are an email address and an API key, by HTTP Basic authentication. With \`npm start\`, the keys of the
demo accounts are in \`.local/zuliprc\`.

**Parameters.** Text travels as it is, everything else as JSON text: \`true\`, \`7\`, \`["a"]\`. A body is a form
(\`application/x-www-form-urlencoded\` or \`multipart/form-data\`) on any method; parameters may stand in the query
instead. A parameter that is given twice is refused, one that means nothing is told in
\`ignored_parameters_unsupported\`. Every endpoint takes \`client\`, the name of the program that calls.

**Replies** are JSON objects with \`result\` (\`success\` or \`error\`) and \`msg\`. Clients should ignore fields that
they do not know.

**Errors** have a \`code\` for programs beside the \`msg\` for people, and only the first problem is told.
Besides what each endpoint lists, an address that does not exist is answered with 404 (\`BAD_REQUEST\`), and a method
that an address does not have with 405 (\`METHOD_NOT_ALLOWED\`).

**Events.** \`POST /api/v1/register\` makes an event queue and tells the state as of its \`last_event_id\`.
\`GET /api/v1/events\` then waits until there is news, and answers with events of rising \`id\`; the highest of them is
the \`last_event_id\` of the next request. When nothing happens, a \`heartbeat\` comes. After \`BAD_EVENT_QUEUE_ID\` the
queue is gone: register again. The schemas at the end show each kind of event (\`Event.…\`) and each error
(\`Error.…\`).`;

/** An error of the wire, and one such as a client gets it. */
const json = (code: Code, example: string = code) => ({
  content: {
    'application/json': {
      schema: { $ref: errorRef(code) },
      examples: { [code]: { $ref: `#/components/examples/${example}` } },
    },
  },
});

/** The OpenAPI 3.1 document of the whole API, made from the declarations of its endpoints. */
export function openApiDocument(endpoints: readonly Endpoint[] = everyEndpoint): JsonSchema {
  const { schemas, names } = namedSchemas();
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  const paths = Object.fromEntries(
    [...byPath].map(([path, here]) => [
      path,
      Object.fromEntries(here.map((one) => [one.method.toLowerCase(), operationOf(one)])),
    ]),
  );
  return {
    openapi: '3.1.1',
    info: {
      title: 'Parlance',
      version: String(FEATURE_LEVEL),
      description: DESCRIPTION,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    tags: Object.entries(areas).map(([name, description]) => ({ name, description })),
    paths: referring(paths, names),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'basic',
          description: 'The email address as the user name, the API key as the password.',
        },
      },
      schemas,
      examples: errorExamples,
      responses: {
        TooLarge: {
          description: 'The request is larger than the endpoint takes, or than 10 MB.',
          ...json('BAD_REQUEST', 'BAD_REQUEST.413'),
        },
        TooMany: {
          description: 'Too many requests; the header `Retry-After` tells when to try again, in seconds.',
          headers: { 'Retry-After': { schema: { type: 'number' } } },
          ...json('RATE_LIMIT_HIT'),
        },
        Fault: {
          description: 'A fault of the service, which has been reported.',
          ...json('INTERNAL_SERVER_ERROR'),
        },
      },
    },
  };
}

/** All that is described once, and by what it is recognized where it is used. */
function namedSchemas(): { readonly schemas: JsonSchema; readonly names: ReadonlyMap<string, string> } {
  const objects = Object.entries(shapes).map(([name, shape]) => [name, jsonSchema(shape)] as const);
  const names = new Map(objects.map(([name, schema]) => [JSON.stringify(schema), name]));
  const inside = (schema: JsonSchema): unknown =>
    Object.fromEntries(Object.entries(schema).map(([keyword, part]) => [keyword, referring(part, names)]));
  const events = Object.entries(eventShapes).map(
    ([name, shape]) => [eventName(name), jsonSchema(shape)] as const,
  );
  const codes: readonly Code[] = [
    ...new Set([...Object.values(problems).map(({ code }) => code), ...generalCodes]),
  ];
  const errors = codes.map((code) => [errorName(code), jsonSchema(errorShape(code))] as const);
  const event = {
    description: 'An event, told apart by `type` and, where there is one, `op`.',
    anyOf: events.map(([name]) => ({ $ref: `#/components/schemas/${name}` })),
  };
  const schemas = Object.fromEntries([
    ...[...objects, ...events, ...errors].map(([name, schema]) => [name, inside(schema)] as const),
    ['Event', event],
  ]);
  return { schemas, names: new Map([...names, [JSON.stringify(jsonSchema(anyEvent)), 'Event']]) };
}

/** `stream/create` becomes `Event.stream.create`: names of the document have no slashes. */
const eventName = (name: string): string => `Event.${name.replaceAll('/', '.')}`;
