import { problems } from '../domain/problems.ts';
import { FEATURE_LEVEL } from '../domain/realm/realm.ts';
import { endpoints as everyEndpoint } from '../endpoints/all.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { type Code, errorShape, gatewayCodes } from './errors.ts';
import { eventShapes } from './event-shapes.ts';
import { type JsonSchema, jsonSchema, referring } from './json-schema.ts';
import { errorName, errorRef, operationOf } from './operation.ts';
import { anyEvent, shapes } from './shapes.ts';

const DESCRIPTION = `Parlance is a team chat service that speaks Zulip's REST API at feature level ${FEATURE_LEVEL}.

**Parameters.** Text travels as it is, everything else as JSON text: \`true\`, \`7\`, \`["a"]\`. A body is a form
(\`application/x-www-form-urlencoded\` or \`multipart/form-data\`) on any method; parameters may stand in the query
instead. A parameter that is given twice is refused, one that means nothing is told in
\`ignored_parameters_unsupported\`. Every endpoint takes \`client\`, the name of the program that calls.

**Replies** are JSON objects with \`result\` (\`success\` or \`error\`) and \`msg\`; errors have a \`code\` too, and
only the first problem is told. Clients should ignore fields that they do not know.

**Credentials** are an email address and an API key, by HTTP Basic authentication.`;

const json = (schema: object) => ({ content: { 'application/json': { schema } } });

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
    tags: [...new Set(endpoints.map(({ id }) => id.split('.')[0]))].map((name) => ({ name })),
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
      responses: {
        TooLarge: {
          description: 'The request has more than 10 MB.',
          ...json({ $ref: errorRef('BAD_REQUEST') }),
        },
        TooMany: {
          description: 'Too many requests; the header `Retry-After` tells when to try again, in seconds.',
          headers: { 'Retry-After': { schema: { type: 'integer' } } },
          ...json({ $ref: errorRef('RATE_LIMIT_HIT') }),
        },
        Fault: {
          description: 'A fault of the service, which has been reported.',
          ...json({ $ref: errorRef('INTERNAL_SERVER_ERROR') }),
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
    ...new Set(Object.values(problems).map(({ code }) => code)),
    ...gatewayCodes,
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
