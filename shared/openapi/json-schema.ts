import * as z from 'zod/mini';

/** A JSON Schema of the document. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/**
 * The JSON Schema of a request or a reply. Bounds of safe integers are left out as noise, and objects stay open, because
 * later versions may add fields.
 */
export function jsonSchema(schema: z.ZodMiniType): JsonSchema {
  const { $schema, ...made } = z.toJSONSchema(schema, { io: 'input' });
  return plain(made) as JsonSchema;
}

/** Removes what the conversion adds and no reader needs. */
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

/** Replaces schemas that the document names by references. */
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
