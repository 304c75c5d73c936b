import * as z from 'zod/mini';

/** A JSON Schema, as it stands in the document. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/**
 * The JSON Schema of what a client sends or gets. Integers are exact in JSON and need no bounds for that; objects may
 * come to have further fields in later versions.
 */
export function jsonSchema(schema: z.ZodMiniType): JsonSchema {
  const { $schema, ...made } = z.toJSONSchema(schema, { io: 'input' });
  return plain(made) as JsonSchema;
}

/** Leaves out what the conversion adds and no reader needs. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([keyword, given]) => !isNoise(keyword, given))
      .map(([keyword, given]) => [keyword, plain(given)]),
  );
}

const isNoise = (keyword: string, given: unknown): boolean =>
  (keyword === 'minimum' && given === Number.MIN_SAFE_INTEGER) ||
  (keyword === 'maximum' && given === Number.MAX_SAFE_INTEGER) ||
  (keyword === 'propertyNames' && JSON.stringify(given) === '{"type":"string"}') ||
  (keyword === 'additionalProperties' && JSON.stringify(given) === '{}');

/** The same with what is described elsewhere in the document replaced by a reference to it. */
export function referring(schema: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(schema)) return schema.map((part) => referring(part, names));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { description, ...described } = schema as JsonSchema;
  const name = names.get(JSON.stringify(described));
  if (name !== undefined) {
    return { $ref: `#/components/schemas/${name}`, ...(description !== undefined && { description }) };
  }
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, part]) => [keyword, referring(part, names)]),
  );
}
