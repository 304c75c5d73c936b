import { type AllowedCallers, type Endpoint, summaryOf } from '../endpoints/endpoint.ts';
import { codesOf, errorExampleName, statusesOf } from './errors.ts';
import { commandOf, exampleOf } from './examples.ts';
import { type JsonSchema, jsonSchema } from './json-schema.ts';
import { requestOf } from './parameters.ts';

const callers: Readonly<Record<AllowedCallers, string>> = {
  anyone: 'anyone, without credentials',
  user: 'all users, including bots and guests; the resource may have finer rules',
  human: 'all users except bots; the resource may have finer rules',
  member: 'all users except guests; the resource may have finer rules',
  person: 'all users except bots and guests; the resource may have finer rules',
  administrator: 'organization administrators and owners',
  owner: 'organization owners',
};

const JSON_TYPE = 'application/json';

/** One endpoint as an operation of the document. */
export function operationOf(endpoint: Endpoint): object {
  const { id, source, access } = endpoint;
  const summary = summaryOf(endpoint);
  return {
    operationId: id,
    tags: [areaOf(endpoint)],
    summary,
    description: descriptionOf(endpoint, summary),
    ...requestOf(endpoint),
    responses: { ...successOf(endpoint), ...refusalsOf(endpoint), ...general },
    ...(access === 'anyone' && { security: [] }),
    'x-source': source,
  };
}

/** The area of an endpoint, its tag in the document. */
export const areaOf = ({ id }: Pick<Endpoint, 'id'>): string => id.split('.')[0] ?? '';

/** The rest of the description, who may call, and a request to copy. */
function descriptionOf(endpoint: Endpoint, summary: string): string {
  const { description, access, webhookBots } = endpoint;
  const command = commandOf(endpoint);
  return [
    ...(description === `${summary}.` ? [] : [description]),
    `**Who may call:** ${callers[access]}${webhookBots ? '. Incoming-webhook bots may call it too' : ''}.`,
    ...(command === undefined ? [] : [`\`\`\`\n${command}\n\`\`\``]),
  ].join('\n\n');
}

function successOf({ id, serves, reply }: Endpoint): Record<string, object> {
  if (serves !== undefined) {
    const [status = '200'] = /\b\d{3}\b/.exec(serves) ?? [];
    return { [status]: { description: serves } };
  }
  const {
    properties,
    required = [],
    ...rest
  } = jsonSchema(reply) as {
    readonly properties?: JsonSchema;
    readonly required?: readonly string[];
  };
  const schema = {
    ...rest,
    properties: {
      result: { const: 'success' },
      msg: { const: '' },
      ...properties,
      ignored_parameters_unsupported: {
        type: 'array',
        items: { type: 'string' },
        description: 'Names of parameters that the endpoint does not support.',
      },
    },
    required: ['result', 'msg', ...required],
  };
  const example = exampleOf(id)?.reply;
  const content = { [JSON_TYPE]: { schema, ...(example !== undefined && { example }) } };
  return { 200: { description: 'Success.', content } };
}

/** The errors of the endpoint, by status. */
function refusalsOf(endpoint: Endpoint): Record<string, object> {
  const byStatus = new Map<number, string[]>();
  for (const code of codesOf(endpoint)) {
    for (const status of statusesOf(code, endpoint)) {
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: `Error: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
        content: {
          [JSON_TYPE]: {
            schema: anyOf(codes.map((code) => ({ $ref: errorRef(code) }))),
            examples: Object.fromEntries(
              codes.map((code) => [code, exampleRef(endpoint, code, Number(status))]),
            ),
          },
        },
      },
    ]),
  );
}

const anyOf = (schemas: readonly object[]): object =>
  schemas.length === 1 ? (schemas[0] ?? {}) : { anyOf: schemas };

/** A reference to the schema of an error. */
export const errorRef = (code: string): string => `#/components/schemas/${errorName(code)}`;
export const errorName = (code: string): string => `Error.${code}`;

/** A reference to the example of an error. */
const exampleRef = ({ access }: Endpoint, code: string, status: number) => ({
  $ref: `#/components/examples/${errorExampleName(code, status, access)}`,
});

/** Errors that any request can get. */
const general = {
  413: { $ref: '#/components/responses/TooLarge' },
  429: { $ref: '#/components/responses/TooMany' },
  500: { $ref: '#/components/responses/Fault' },
};
