import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { Parameter } from '../../shared/endpoints/parameter.ts';
import { usualBounds } from '../../shared/kernel/text.ts';
import { readParameters } from '../../shared/serve/parameters.ts';

/** What is said of a value that the schema does not take. */
function complaintOf(schema: z.ZodMiniType<unknown>, value: unknown): string {
  const parameter: Parameter = { wire: 'json', schema, required: true, description: '' };
  try {
    readParameters(
      { x: parameter },
      new Map(),
      new Map([['x', JSON.stringify(value)]]),
      new Map(),
      usualBounds,
    );
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('there was no complaint');
}

describe('validation errors', () => {
  const asObject = z.transform(
    (value) => new Map(Object.entries(value as object).map(([k, v]) => [{ k }, v])),
  );
  /** One value for each code of the validator that is complained of with it. */
  const cases: Readonly<Record<string, readonly [z.ZodMiniType<unknown>, unknown]>> = {
    invalid_type: [z.array(z.int()), [1, '2']],
    too_big: [z.array(z.int()).check(z.maxLength(1)), [1, 2]],
    too_small: [z.array(z.int()).check(z.minLength(3)), [1, 2]],
    invalid_format: [z.email(), 'nobody'],
    not_multiple_of: [z.number().check(z.multipleOf(2)), 3],
    unrecognized_keys: [z.strictObject({ a: z.optional(z.int()) }), { b: 1 }],
    invalid_union: [z.union([z.int(), z.boolean()]), 'x'],
    invalid_key: [z.record(z.string().check(z.minLength(2)), z.int()), { a: 1 }],
    invalid_element: [z.pipe(asObject, z.map(z.object({ k: z.string() }), z.int())), { a: 'x' }],
    invalid_value: [z.enum(['a', 'b']), 'c'],
    custom: [z.string().check(z.refine((text) => text === 'x')), 'y'],
  };

  it('all have a message', () => {
    const errors = createRequire(import.meta.url)
      .resolve('zod/v4/core')
      .replace(/[^/]*$/, 'errors.d.ts');
    const known = [...readFileSync(errors, 'utf8').matchAll(/readonly code: "(\w+)"/g)].map(
      ([, code]) => code,
    );
    expect([...new Set(known)].sort()).toEqual(Object.keys(cases).sort());
    const sentences = Object.entries(cases).map(([code, [schema, value]]) => {
      expect(schema.safeParse(value).error?.issues[0]?.code).toBe(code);
      return complaintOf(schema, value);
    });
    for (const sentence of sentences) {
      expect(sentence).toMatch(/^'x' (is|must|has) .*\.$/);
      expect(sentence).not.toMatch(/undefined|\[object/);
    }
  });

  it('name the limit that is exceeded, and where', () => {
    expect(complaintOf(z.string().check(z.maxLength(3)), 'long')).toContain('at most 3');
    expect(complaintOf(z.int().check(z.minimum(3)), 1)).toContain('at least 3');
    expect(complaintOf(z.object({ a: z.array(z.int()) }), { a: [1, 'x'] })).toContain('(at a.1)');
    expect(complaintOf(z.int(), 1.5)).toBe("'x' is not an integer.");
    expect(complaintOf(z.int(), 'x')).toBe("'x' is not a number.");
    expect(complaintOf(z.record(z.string(), z.int()), 'x')).toBe("'x' is not an object.");
  });
});
