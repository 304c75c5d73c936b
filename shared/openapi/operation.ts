import type { Audience, Endpoint } from '../endpoints/endpoint.ts';
import { codesOf, statusesOf } from './errors.ts';
import { exampleOf } from './examples.ts';
import { type JsonSchema, jsonSchema } from './json-schema.ts';
import { requestOf } from './parameters.ts';

const callers: Readonly<Record<Audience, string>> = {
  anyone: 'Anyone may call it, without credentials.',
  user: 'Every user may call it, bots and guests too; finer rules are those of what it is about.',
  human: 'Every user but bots may call it.',
  member: 'Every user but guests may call it; finer rules are those of what it is about.',
  administrator: 'Organization administrators and owners may call it.',
  owner: 'Organization owners may call it.',
};

const JSON_TYPE = 'application/json';

/** One endpoint as an operation of the document. */
export function operationOf(endpoint: Endpoint): object {
  const { id, says, source, who } = endpoint;
  const [area = ''] = id.split('.');
  const [summary = ''] = says.split(/[.;:,](?=\s|$)/);
  return {
    operationId: id,
    tags: [area],
    summary,
    description: `${says}\n\n${callers[who]}${endpoint.webhookBots ? ' Incoming-webhook bots may, too.' : ''}\n\nRules: ${source}.`,
    ...requestOf(endpoint),
    responses: { ...successOf(endpoint), ...refusalsOf(endpoint), ...general },
    ...(who === 'anyone' && { security: [] }),
  };
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
        description: 'Names of parameters that were given and mean nothing here.',
      },
    },
    required: ['result', 'msg', ...required],
  };
  const example = exampleOf(id)?.reply;
  const content = { [JSON_TYPE]: { schema, ...(example !== undefined && { example }) } };
  return { 200: { description: 'Done.', content } };
}

/** What the endpoint can refuse, by status. */
function refusalsOf(endpoint: Endpoint): Record<string, object> {
  const byStatus = new Map<number, string[]>();
  for (const code of codesOf(endpoint)) {
    for (const status of statusesOf(code)) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: `Refused: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
        content: { [JSON_TYPE]: { schema: anyOf(codes.map((code) => ({ $ref: errorRef(code) }))) } },
      },
    ]),
  );
}

const anyOf = (schemas: readonly object[]): object =>
  schemas.length === 1 ? (schemas[0] ?? {}) : { anyOf: schemas };

/** Where the document describes the error of a code. */
export const errorRef = (code: string): string => `#/components/schemas/${errorName(code)}`;
export const errorName = (code: string): string => `Error.${code}`;

/** What the gateway and the functions answer whatever was asked for. */
const general = {
  413: { $ref: '#/components/responses/TooLarge' },
  429: { $ref: '#/components/responses/TooMany' },
  500: { $ref: '#/components/responses/Fault' },
};
