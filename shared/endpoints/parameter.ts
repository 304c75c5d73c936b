import * as z from 'zod/mini';

/**
 * How one request parameter travels and what it may hold (specification 4, wire facts 1.2).
 *
 * Zulip's rule: text is taken raw, everything else is JSON text inside the form or the query. So a
 * parameter is either `text` (checked as it came) or `json` (decoded first, then checked). An ID in the path is
 * `digits`: a path with anything else there is no address of the API (companion facts 6.2).
 */
export interface Parameter<T = unknown, Required extends boolean = boolean> {
  readonly wire: 'text' | 'json' | 'digits';
  readonly schema: z.ZodMiniType<T>;
  readonly required: Required;
  /** Its absence is `BAD_REQUEST`, as a few endpoints have it, instead of `REQUEST_VARIABLE_MISSING`. */
  readonly plainlyRequired?: true;
  /** A deprecated second name (`subject` for `topic`); sending both is `REQUEST_CONFUSING_VAR`. */
  readonly alias?: string;
  /** One sentence for the reference page. */
  readonly description: string;
}

type Parameters = Readonly<Record<string, Parameter>>;

/** The parsed input that a handler gets: required parameters always there, optional ones perhaps absent. */
export type Input<P extends Parameters> = {
  -readonly [K in keyof P as P[K]['required'] extends true ? K : never]: P[K] extends Parameter<infer T>
    ? T
    : never;
} & {
  -readonly [K in keyof P as P[K]['required'] extends true ? never : K]?: P[K] extends Parameter<infer T>
    ? T
    : never;
};

/** A raw text parameter that must be present. */
export const text = (
  description: string,
  schema: z.ZodMiniType<string> = z.string(),
): Parameter<string, true> => ({
  wire: 'text',
  schema,
  required: true,
  description,
});

/** A raw text parameter that must be one of a few words. */
export const word = <const W extends readonly [string, ...string[]]>(
  description: string,
  words: W,
): Parameter<W[number], true> => ({
  wire: 'text',
  schema: z.enum(words) as z.ZodMiniType<W[number]>,
  required: true,
  description,
});

/** A parameter sent as JSON text that must be present. */
export const json = <T>(description: string, schema: z.ZodMiniType<T>): Parameter<T, true> => ({
  wire: 'json',
  schema,
  required: true,
  description,
});

/** An integer that both JSON and DynamoDB keep exactly (at most 2^53 - 1 either way). */
export const integer = (description: string): Parameter<number, true> => json(description, z.int());

/** An ID in the path: one or more ASCII digits. Any other segment leads to no endpoint (companion facts 6.2). */
export const pathId = (description: string): Parameter<number, true> => ({
  wire: 'digits',
  schema: z.int().check(z.minimum(0)),
  required: true,
  description,
});

/** A boolean, sent as the JSON words `true` and `false`. */
export const boolean = (description: string): Parameter<boolean, true> => json(description, z.boolean());

/** The same parameter, which may be absent. */
export const optional = <T>(parameter: Parameter<T>): Parameter<T, false> => ({
  ...parameter,
  required: false,
});

/** The same parameter, whose absence is `BAD_REQUEST`: so the endpoints that companion facts name have it. */
export const plainlyRequired = <T>(parameter: Parameter<T, true>): Parameter<T, true> => ({
  ...parameter,
  plainlyRequired: true,
});

/** The same parameter, also accepted under a deprecated name. */
export const aliased = <T, R extends boolean>(
  parameter: Parameter<T, R>,
  alias: string,
): Parameter<T, R> => ({
  ...parameter,
  alias,
});
