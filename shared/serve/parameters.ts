import type { MiddlewareObj } from '@middy/core';
import urlencodeBodyParser from '@middy/http-urlencode-body-parser';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type * as z from 'zod/mini';
import type { Endpoint, RequestSize } from '../endpoints/endpoint.ts';
import type { Parameter } from '../endpoints/parameter.ts';
import { badRequest, refusal } from '../kernel/errors.ts';
import { isWithin, type JsonBounds, usualBounds } from '../kernel/text.ts';
import type { UploadedFile } from './request.ts';

/** Room for a message of 10,000 characters that take 12 bytes each in a form, and for a list of 5,000 names. */
const usualSize: RequestSize = { bytes: 512 * 1024, ...usualBounds };

/** Largest request in bytes that is parsed before the caller's key is accepted. */
export const SMALL_REQUEST = 32 * 1024;

/** The limits of a request to this endpoint. Without credentials, it must be small. */
export const requestSizeOf = ({ size, access }: Pick<Endpoint, 'size' | 'access'>): RequestSize => ({
  ...usualSize,
  ...(access === 'anyone' && { bytes: SMALL_REQUEST }),
  ...size,
});

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

const FORM = /^application\/x-www-form-urlencoded\b/i;
const MULTIPART = /^multipart\/form-data\b/i;

/** What parsing the body takes and gives of a request. */
interface WithBody {
  readonly header: (name: string) => string | undefined;
  /** About how many bytes the body has, plus the characters of the query. */
  readonly size: number;
  /** The body before it is parsed. */
  readonly bytes: Buffer;
  body: unknown;
  isBase64Encoded: boolean;
  fields: Fields;
  files: readonly UploadedFile[];
  bodyProblem: unknown;
}

type BodyStep = MiddlewareObj<WithBody, APIGatewayProxyResult>;

/**
 * Parses the body in these steps. A refusal is kept until the parameters are read, since only callers who may call
 * learn what is wrong with a request.
 */
export const parseBody = (...steps: readonly BodyStep[]): BodyStep => ({
  async before(request) {
    try {
      for (const { before } of steps) await before?.(request);
    } catch (error) {
      request.event.bodyProblem = error;
    }
  },
});

/** Refuses a request that is larger than its endpoint takes, before any of it is decoded. */
export const bodyLimit = (endpoint: Endpoint): BodyStep => ({
  before({ event }) {
    if (event.size > requestSizeOf(endpoint).bytes) throw refusal('requestTooLarge');
  },
});

const parser = urlencodeBodyParser({ disableContentTypeCheck: true }) as unknown as BodyStep;

/**
 * Parses a form on any method (wire facts 1.2). The parser repairs what is broken and reads no more than
 * `MAX_FIELDS` pairs, so both are checked before it runs; a name given twice has a list of values after it.
 *
 * Throws `BAD_REQUEST` for broken encoding and for a name given twice, which could mean either value.
 */
export const urlencodedBody: BodyStep = {
  before(request) {
    const incoming = request.event;
    if (!FORM.test(incoming.header('content-type') ?? '')) return;
    incoming.body = checkedText(decodeUtf8(incoming.bytes));
    incoming.isBase64Encoded = false;
    parser.before?.(request);
    incoming.fields = fieldsOf(Object.entries(incoming.body as Record<string, string | string[]>));
  },
};

/** Parses a multipart body with the platform's own parser: its fields, and its files, which are no fields. */
export const multipartBody: BodyStep = {
  async before({ event: incoming }) {
    const contentType = incoming.header('content-type') ?? '';
    if (!MULTIPART.test(contentType)) return;
    const body = incoming.bytes;
    // The official JavaScript client sends a form without fields so, though it calls it multipart.
    if (body.length === 0) return;
    let form: FormData;
    try {
      form = await new Response(body, { headers: { 'content-type': contentType } }).formData();
    } catch {
      throw badRequest('The multipart body is malformed.');
    }
    const parts = [...form];
    const files = parts.flatMap(([, value]) => (typeof value === 'string' ? [] : [value]));
    incoming.fields = fieldsOf(parts.filter((part): part is [string, string] => typeof part[1] === 'string'));
    incoming.files = await Promise.all(
      files.map(async (file) => ({
        bytes: new Uint8Array(await file.arrayBuffer()),
        name: file.name,
        contentType: file.type,
      })),
    );
    // The parser puts a replacement for what is no UTF-8. Where there are no files, all of the body is text.
    if (files.length === 0) decodeUtf8(body);
  },
};

function decodeUtf8(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw badRequest('The body is not valid UTF-8.');
  }
}

/** The pairs of a form, if there are not too many and all of their escapes can be decoded. */
function checkedText(text: string): string {
  const pairs = text.split('&').filter((pair) => pair !== '');
  if (pairs.length > MAX_FIELDS) throw tooManyFields();
  try {
    decodeURIComponent(text);
  } catch {
    throw badRequest('The percent-encoding of the parameters is broken.');
  }
  return pairs.join('&');
}
