import { badRequest, refusal } from '../kernel/errors.ts';

/** Parameters as they came, by name; text that still has to be read as its declaration says. */
export type Fields = ReadonlyMap<string, string>;

/** Most fields that a request may have, as in the reference: more than any endpoint knows, and few enough to list. */
export const MAX_FIELDS = 1_000;

export const tooManyFields = (): Error => badRequest(`A request has at most ${MAX_FIELDS} parameters.`);

/** Fields by name. Refuses too many, and a name with more than one value. */
export function fieldsOf(pairs: Iterable<readonly [string, string | readonly string[]]>): Fields {
  const fields = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (fields.size >= MAX_FIELDS) throw tooManyFields();
    if (fields.has(name) || typeof value !== 'string') {
      throw badRequest(`The parameter '${name.slice(0, 60)}' is given more than once.`);
    }
    fields.set(name, value);
  }
  return fields;
}

/** The fields of the query string, which the gateway has decoded. */
export const queryFields = (query: Readonly<Record<string, readonly string[] | undefined>> | null): Fields =>
  fieldsOf(
    Object.entries(query ?? {}).flatMap(([name, values]) =>
      (values ?? []).map((value) => [name, value] as const),
    ),
  );

/** The parts of the path that the route names. */
export function pathFields(path: Readonly<Record<string, string | undefined>> | null): Fields {
  const fields = new Map<string, string>();
  for (const [name, value] of Object.entries(path ?? {})) {
    if (value === undefined) continue;
    try {
      fields.set(name, decodeURIComponent(value));
    } catch {
      throw refusal('badRequest', { reason: 'The percent-encoding of the path is broken.' });
    }
  }
  return fields;
}
