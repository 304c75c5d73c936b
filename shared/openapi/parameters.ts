import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Parameter } from '../endpoints/parameter.ts';
import { exampleOf } from './examples.ts';
import { type JsonSchema, jsonSchema } from './json-schema.ts';

/** A parameter in the document, for the path, the query or the body. */
interface Described {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
  /** Whether it is the older name of another parameter. */
  readonly deprecated: boolean;
  /** Whether it is JSON other than a number or a boolean. */
  readonly isEncoded: boolean;
  readonly example: unknown;
}

/** The parameters of an endpoint in path and query, and its body if it has one. */
export function requestOf(endpoint: Endpoint): {
  readonly parameters: readonly object[];
  readonly requestBody?: object;
} {
  const all = Object.entries(endpoint.parameters).flatMap(([name, parameter]) =>
    described(endpoint, name, parameter),
  );
  const inPath = all.filter(({ name }) => endpoint.path.includes(`{${name}}`));
  const others = all.filter((one) => !inPath.includes(one));
  const variables = inPath.map((one) => ({ ...inAddress(one, 'path'), required: true }));
  if (endpoint.method === 'GET') {
    return { parameters: [...variables, ...others.map((one) => inAddress(one, 'query'))] };
  }
  if (others.length === 0 && endpoint.file === undefined) return { parameters: variables };
  return { parameters: variables, requestBody: inBody(endpoint, others) };
}

function described({ id }: Endpoint, name: string, parameter: Parameter): Described[] {
  const schema = jsonSchema(parameter.schema);
  const one: Described = {
    name,
    description: parameter.description,
    schema,
    required: parameter.required,
    deprecated: false,
    isEncoded: parameter.wire === 'json' && !isPrimitive(schema),
    example: exampleFor(id, name, parameter),
  };
  const { alias } = parameter;
  if (alias === undefined) return [one];
  const older = { name: alias, description: `The older name of \`${name}\`.`, deprecated: true };
  // A request has one of the two names, so neither is required.
  return [
    { ...one, required: false },
    { ...one, ...older, required: false, example: undefined },
  ];
}

/** The value in the recorded request. Text stays text, even if the test passed a number. */
function exampleFor(id: string, name: string, { wire }: Parameter): unknown {
  const value = exampleOf(id)?.request[name];
  return value !== undefined && wire === 'text' ? String(value) : value;
}

/** Numbers and booleans look the same as JSON and as plain values of a query or a form. */
function isPrimitive({ type, anyOf, enum: words }: JsonSchema): boolean {
  if (Array.isArray(anyOf)) return anyOf.every((choice) => isPrimitive(choice as JsonSchema));
  return words !== undefined || ['integer', 'number', 'boolean', 'null'].includes(String(type));
}

const JSON_TEXT = 'application/json';

function inAddress(one: Described, place: 'path' | 'query'): object {
  const { name, description, required, deprecated, schema, isEncoded, example } = one;
  const example_ = example !== undefined && { example };
  return {
    name,
    in: place,
    description: isEncoded ? `${description} JSON.` : description,
    ...(required && { required }),
    ...(deprecated && { deprecated }),
    ...(isEncoded ? { content: { [JSON_TEXT]: { schema, ...example_ } } } : { schema, ...example_ }),
  };
}

function inBody({ id, file }: Endpoint, fields: readonly Described[]): object {
  const properties = Object.fromEntries(
    fields.map(({ name, description, schema, deprecated, isEncoded }) => [
      name,
      {
        ...schema,
        description: isEncoded ? `${description} JSON.` : description,
        ...(deprecated && { deprecated }),
      },
    ]),
  );
  const required = [
    ...fields.filter((field) => field.required).map(({ name }) => name),
    ...(file === undefined ? [] : ['file']),
  ];
  const encoded = fields.filter(({ isEncoded }) => isEncoded).map(({ name }) => name);
  const example = Object.fromEntries(
    fields.filter((field) => field.example !== undefined).map((field) => [field.name, field.example]),
  );
  const upload =
    file === undefined ? {} : { file: { contentMediaType: 'application/octet-stream', description: file } };
  const body = {
    schema: {
      type: 'object',
      properties: { ...properties, ...upload },
      ...(required.length > 0 && { required }),
    },
    ...(encoded.length > 0 && {
      encoding: Object.fromEntries(encoded.map((name) => [name, { contentType: JSON_TEXT }])),
    }),
    ...(exampleOf(id) && file === undefined && { example }),
  };
  const type = file === undefined ? 'application/x-www-form-urlencoded' : 'multipart/form-data';
  return {
    content: { [type]: body },
    ...(required.length > 0 && { required: true }),
  };
}
