import * as z from 'zod/mini';
import { endpoints as everyEndpoint } from '../endpoints/all.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { channelFields, messageFields, userFields, userGroupFields } from '../endpoints/objects.ts';
import { problems } from '../kernel/errors.ts';
import { groupSettingChangeSchema, groupSettingSchema } from '../model/permission/permission.ts';
import { FEATURE_LEVEL } from '../model/realm/realm.ts';
import { type Code, errorExamples, errorShape, generalCodes } from './errors.ts';
import { eventShapes } from './event-shapes.ts';
import { type JsonSchema, jsonSchema, referring } from './json-schema.ts';
import { errorName, errorRef, operationOf } from './operation.ts';

/** The areas of the API with a title each, in the order of the reference page. */
const areas: Readonly<Record<string, string>> = {
  server: 'Server settings, before signing in',
  signIn: 'Signing in',
  messages: 'Sending, getting, editing, moving and deleting messages, and their flags',
  reactions: 'Emoji reactions to messages',
  submessages: 'Polls and to-do lists',
  events: 'Real-time events',
  channels: 'Channels and default channels',
  subscriptions: 'Subscriptions of users to channels, and their settings',
  topics: 'Topics of a channel, and their visibility policies',
  typing: 'Who is typing',
  channelFolders: 'Folders of channels',
  defaultChannelGroups: 'Groups of channels that fit together',
  users: 'Accounts, roles, profiles and statuses',
  invites: 'Invitations by email and by link',
  apiKeys: 'API keys of the caller, one for each device',
  scheduledMessages: "The caller's messages that are sent later",
  reminders: "The caller's reminders of messages",
  drafts: "The caller's drafts of messages",
  navigationViews: "The caller's navigation views",
  savedSnippets: "The caller's saved snippets of text",
  presence: 'Who is online',
  settings: "The caller's own settings",
  userGroups: 'User groups, for mentions and permissions',
  bots: 'Bots and their keys',
  realm: 'The settings of the organization',
  domains: 'Allowed domains for email addresses of new users',
  linkifiers: 'Patterns that become links in messages and topics',
  playgrounds: 'Places in the web where code is tried out',
  profileFields: 'Custom profile fields',
  emoji: 'Custom emoji',
  files: 'Uploaded files',
  exports: 'Exports of the data of the organization',
  push: 'Push notifications to mobile devices',
  calls: 'Video calls',
};

/** Objects of several endpoints, which the document defines once under these names. */
const shapes: Readonly<Record<string, z.ZodMiniType>> = {
  Message: z.object(messageFields),
  User: z.object(userFields),
  Channel: z.object(channelFields),
  UserGroup: z.object(userGroupFields),
  GroupSetting: groupSettingSchema,
  GroupSettingChange: groupSettingChangeSchema,
};

/** Any event, as in the declaration of `GET /events`. */
const anyEvent = z.looseObject({ id: z.int(), type: z.string() });

const DESCRIPTION = `Parlance is a team chat service that speaks Zulip's REST API at feature level ${FEATURE_LEVEL}.

**Credentials** are an email address and an API key, by HTTP Basic authentication. With \`npm start\`, the keys of the
demo accounts are in \`.local/zuliprc\`.

**Parameters.** Text is sent as it is, everything else as JSON: \`true\`, \`7\`, \`["a"]\`. The body of any method is a form
(\`application/x-www-form-urlencoded\` or \`multipart/form-data\`); parameters may be in the query instead. A parameter that
is sent twice is refused. Unknown parameters are ignored and listed in \`ignored_parameters_unsupported\`. Every endpoint
accepts \`client\`, the name of the calling program.

**Replies** are JSON objects with \`result\` (\`success\` or \`error\`) and \`msg\`. Clients should ignore unknown
fields.

**Errors** have a \`code\` for programs and a \`msg\` for people. Only the first problem of a request is reported. Besides
the errors of each endpoint, a path that does not exist returns 404 (\`BAD_REQUEST\`), and a method that a path does not
have returns 405 (\`METHOD_NOT_ALLOWED\`).

**Events.** \`POST /api/v1/register\` creates an event queue and returns the state as of its \`last_event_id\`.
\`GET /api/v1/events\` then waits for events and returns them with ascending \`id\`; the highest is the \`last_event_id\` of
the next request. If nothing happens, it returns a \`heartbeat\`. After \`BAD_EVENT_QUEUE_ID\` the queue is gone: register
again. The schemas at the end show each kind of event (\`Event.…\`) and each error (\`Error.…\`).`;

/** The schema and an example of an error. */
const json = (code: Code, example: string = code) => ({
  content: {
    'application/json': {
      schema: { $ref: errorRef(code) },
      examples: { [code]: { $ref: `#/components/examples/${example}` } },
    },
  },
});

/** The OpenAPI 3.1 document of the whole API, from the declarations of its endpoints. */
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
          description: 'The email address is the user name, the API key is the password.',
        },
      },
      schemas,
      examples: errorExamples,
      responses: {
        TooLarge: {
          description: 'The request is larger than the endpoint accepts, or than 10 MB.',
          ...json('BAD_REQUEST', 'BAD_REQUEST.413'),
        },
        TooMany: {
          description: 'Too many requests. Retry after the seconds in the header `Retry-After`.',
          headers: { 'Retry-After': { schema: { type: 'number' } } },
          ...json('RATE_LIMIT_HIT'),
        },
        Fault: {
          description: 'An internal error, which has been reported.',
          ...json('INTERNAL_SERVER_ERROR'),
        },
      },
    },
  };
}

/** The named schemas of the document, and the name of each by its text, to replace it with a reference. */
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
    description: 'An event, identified by `type` and, if present, `op`.',
    anyOf: events.map(([name]) => ({ $ref: `#/components/schemas/${name}` })),
  };
  const schemas = Object.fromEntries([
    ...[...objects, ...events, ...errors].map(([name, schema]) => [name, inside(schema)] as const),
    ['Event', event],
  ]);
  return { schemas, names: new Map([...names, [JSON.stringify(jsonSchema(anyEvent)), 'Event']]) };
}

/** `stream/create` becomes `Event.stream.create`, because names of schemas have no slashes. */
const eventName = (name: string): string => `Event.${name.replaceAll('/', '.')}`;
