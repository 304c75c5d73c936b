import type * as z from 'zod/mini';
import type { Parameter } from '../endpoints/parameter.ts';
import { badRequest, refusal } from '../kernel/errors.ts';
import { isWithin, type JsonBounds } from '../kernel/text.ts';
import type { UploadedFile } from './request.ts';

/** What was read of a request's fields. */
export interface Read {
  readonly input: Readonly<Record<string, unknown>>;
  /** Names that the endpoint does not know, for `ignored_parameters_unsupported`. */
  readonly ignored: readonly string[];
  /** The client's own name for itself, if it sent one as a parameter. */
  readonly client?: string;
  /** The file that was uploaded, where the endpoint takes one. */
  readonly file?: UploadedFile;
}

/**
 * Refuses a path with anything but digits in the place of an ID, like any path that does not exist (404). This is before
 * the check of the caller, since the path is wrong for every caller (companion facts 6.2).
 */
export function checkAddress(declared: Readonly<Record<string, Parameter>>, path: Fields): void {
  for (const [name, { wire }] of Object.entries(declared)) {
    if (wire === 'digits' && !/^[0-9]+$/.test(path.get(name) ?? '')) throw refusal('noSuchAddress');
  }
}

/** A parameter of every endpoint: the client's name, in place of the `User-Agent` (wire facts 3.9). */
const EVERYWHERE = new Set(['client']);

/**
 * Reads the declared parameters from the fields: path before body before query. Only the first problem is reported
 * (wire facts 1.2, 1.3).
 */
export function readParameters(
  declared: Readonly<Record<string, Parameter>>,
  path: Fields,
  body: Fields,
  query: Fields,
  bounds: JsonBounds,
): Read {
  const given = (name: string): string | undefined => path.get(name) ?? body.get(name) ?? query.get(name);
  const input: Record<string, unknown> = {};
  const consumed = new Set(EVERYWHERE);
  for (const [name, parameter] of Object.entries(declared)) {
    consumed.add(name);
    let value = given(name);
    if (parameter.alias !== undefined) {
      consumed.add(parameter.alias);
      const other = given(parameter.alias);
      if (value !== undefined && other !== undefined) {
        throw refusal('confusingParameter', { first: name, second: parameter.alias });
      }
      value ??= other;
    }
    if (value !== undefined) input[name] = readValue(name, parameter, value, bounds);
    else if (parameter.plainlyRequired) throw badRequest(`The parameter '${name}' is required.`);
    else if (parameter.required) throw refusal('missingParameter', { name });
  }
  const ignored = [...new Set([...body.keys(), ...query.keys()])]
    .filter((name) => !consumed.has(name))
    .sort();
  const client = given('client');
  return { input, ignored, ...(client !== undefined && isClean(client) && { client }) };
}

function readValue(name: string, parameter: Parameter, text: string, bounds: JsonBounds): unknown {
  let value: unknown = parameter.wire === 'digits' ? Number(text) : text;
  if (parameter.wire === 'json') {
    if (!isWithin(text, bounds)) throw badRequest(`'${name}' has too many entries or is nested too deeply.`);
    try {
      value = JSON.parse(text);
    } catch {
      throw badRequest(`'${name}' is not valid JSON.`);
    }
  }
  if (!isClean(value)) throw badRequest(`'${name}' contains ${uncleanPart(value)}.`);
  const result = parameter.schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw badRequest(`'${name}' ${issue === undefined ? 'is not valid' : complaint(issue)}.`);
}

/** Values that DynamoDB, JSON and people can all take: no NUL, no lone half of a surrogate pair, at no depth. */
function isClean(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, part]) => isClean(name) && isClean(part));
}

/** What is wrong with a value that is not clean: where it is plain text, with the place (1-based, in code points). */
function uncleanPart(value: unknown): string {
  if (typeof value !== 'string') return 'characters that are not allowed';
  const position = [...value].findIndex((point) => !isClean(point)) + 1;
  return `a character at position ${position} that is not allowed`;
}

type Issue = z.core.$ZodIssue;

/** A sentence for each complaint of the validator; a complaint that has none fails a test (ANCHORS, rule 4). */
function complaint(issue: Issue): string {
  const place = issue.path.length > 0 ? ` (at ${issue.path.join('.')})` : '';
  switch (issue.code) {
    case 'invalid_type':
      return `is not ${article(issue.expected)}${place}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}${place}`;
    case 'too_small':
      return `is too small or too short (at least ${issue.minimum})${place}`;
    case 'too_big':
      return issue.origin === 'int' || issue.origin === 'number'
        ? `is too large (at most ${issue.maximum})${place}`
        : `is too long (at most ${issue.maximum})${place}`;
    case 'unrecognized_keys':
      return `has a field that it may not have: ${issue.keys[0]?.slice(0, 60)}${place}`;
    case 'invalid_union':
      return `is of the wrong type${place}`;
    case 'invalid_format':
    case 'invalid_key':
    case 'invalid_element':
    case 'not_multiple_of':
    case 'custom':
      return `is not valid${place}`;
  }
}

/** Types in the words of JSON. */
const words: Readonly<Record<string, string>> = { int: 'integer', record: 'object' };

function article(type: string): string {
  const word = words[type] ?? type;
  return /^[aeiou]/.test(word) ? `an ${word}` : `a ${word}`;
}

/** Parameters as they came, by name; text that still has to be read as its declaration says. */
export type Fields = ReadonlyMap<string, string>;

/** Most fields of a request, as in the reference. */
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
