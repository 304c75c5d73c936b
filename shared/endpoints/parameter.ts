import * as z from 'zod/mini';
import { usualBounds } from '../kernel/text.ts';
import { type GroupSettingChange, groupSettingChangeSchema } from '../model/permission/permission.ts';

/**
 * The encoding and the schema of a request parameter (specification 4, wire facts 1.2).
 *
 * Zulip sends text as it is and everything else as JSON inside the form or the query. So a parameter is either `text` or
 * `json` (decoded before it is checked). An ID in the path is `digits`: any other path does not exist (companion facts
 * 6.2).
 */
export interface Parameter<T = unknown, Required extends boolean = boolean> {
  readonly wire: 'text' | 'json' | 'digits';
  readonly schema: z.ZodMiniType<T>;
  readonly required: Required;
  /** If it is missing, the error is `BAD_REQUEST` instead of `REQUEST_VARIABLE_MISSING`. */
  readonly plainlyRequired?: true;
  /** A deprecated second name (`subject` for `topic`). Sending both is `REQUEST_CONFUSING_VAR`. */
  readonly alias?: string;
  /** One sentence for the reference page. */
  readonly description: string;
}

type Parameters = Readonly<Record<string, Parameter>>;

/** The parsed parameters of a request. Optional ones may be missing. */
export type Input<P extends Parameters> = {
  -readonly [K in keyof P as P[K]['required'] extends true ? K : never]: P[K] extends Parameter<infer T>
    ? T
    : never;
} & {
  -readonly [K in keyof P as P[K]['required'] extends true ? never : K]?: P[K] extends Parameter<infer T>
    ? T
    : never;
};

/** A required text parameter. */
export const text = (
  description: string,
  schema: z.ZodMiniType<string> = z.string(),
): Parameter<string, true> => ({ wire: 'text', schema, required: true, description });

/** A required text parameter that is one of these words. */
export const word = <const W extends readonly [string, ...string[]]>(
  description: string,
  words: W,
): Parameter<W[number], true> => ({
  wire: 'text',
  schema: z.enum(words) as z.ZodMiniType<W[number]>,
  required: true,
  description,
});

/** A required parameter sent as JSON. */
export const json = <T>(description: string, schema: z.ZodMiniType<T>): Parameter<T, true> => ({
  wire: 'json',
  schema,
  required: true,
  description,
});

/** A required integer in this range, at most ±(2^53 - 1), which JSON and DynamoDB keep exactly. */
export const integer = (
  description: string,
  from = Number.MIN_SAFE_INTEGER,
  to = Number.MAX_SAFE_INTEGER,
): Parameter<number, true> => json(description, z.int().check(z.minimum(from), z.maximum(to)));

/** A required list of IDs. */
export const ids = (description: string, atMost = usualBounds.values): Parameter<number[], true> =>
  json(description, z.array(z.int()).check(z.maxLength(atMost)));

/** An ID in the path: one or more ASCII digits. With any other text, the path does not exist (companion facts 6.2). */
export const pathId = (description: string): Parameter<number, true> => ({
  wire: 'digits',
  schema: z.int().check(z.minimum(0)),
  required: true,
  description,
});

/** A required boolean, sent as JSON. */
export const boolean = (description: string): Parameter<boolean, true> => json(description, z.boolean());

/** The same parameter, but optional. */
export const optional = <T>(parameter: Parameter<T>): Parameter<T, false> => ({
  ...parameter,
  required: false,
});

/** An optional change of a group setting (wire facts 4.5). */
export const groupChange = (description: string): Parameter<GroupSettingChange, false> =>
  optional(
    json(
      `${description} \`new\` is the new value, \`old\` the expected current one.`,
      groupSettingChangeSchema,
    ),
  );

/** The same parameter, but `BAD_REQUEST` if it is missing, on the endpoints that the companion facts name. */
export const plainlyRequired = <T>(parameter: Parameter<T, true>): Parameter<T, true> => ({
  ...parameter,
  plainlyRequired: true,
});

/** The same parameter, also accepted under a deprecated name. */
export const aliased = <T, R extends boolean>(
  parameter: Parameter<T, R>,
  alias: string,
): Parameter<T, R> => ({ ...parameter, alias });

/** The schema of a narrow: filters as pairs or objects whose operands are a string, an integer or an array. */
export const narrowOf = <I extends z.core.$ZodType>(inList: I) => {
  const operand = z.union([z.string(), z.int(), z.array(inList)]);
  const term = z.object({ operator: z.string(), operand, negated: z.optional(z.boolean()) });
  return z.nullable(z.array(z.union([z.tuple([z.string(), operand]), term])).check(z.maxLength(50)));
};
