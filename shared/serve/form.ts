import { badRequest, refusal } from '../domain/problems.ts';

/** Parameters as they came, by name; text that still has to be read as its declaration says. */
export type Fields = ReadonlyMap<string, string>;

const FORM = /^application\/x-www-form-urlencoded\b/i;
const MULTIPART = /^multipart\/form-data\b/i;

/** What a body holds: fields, and the files of a multipart body, which are no fields. */
export interface Form {
  readonly fields: Fields;
  readonly files: readonly Uint8Array[];
}

/**
 * Reads a body (wire facts 1.2): form and multipart bodies on any method; a body of any other type has no fields.
 *
 * Throws `BAD_REQUEST` for broken encoding and for a name given twice, which could mean either value.
 */
export async function readForm(body: Uint8Array, contentType: string): Promise<Form> {
  // The official JavaScript client sends a form without fields so, though it calls it multipart.
  if (body.length === 0) return { fields: new Map(), files: [] };
  if (FORM.test(contentType)) return { fields: pairs(decodeUtf8(body)), files: [] };
  if (MULTIPART.test(contentType)) {
    let form: FormData;
    try {
      form = await new Response(Buffer.from(body), { headers: { 'content-type': contentType } }).formData();
    } catch {
      throw badRequest('The multipart body is malformed.');
    }
    const fields = new Map<string, string>();
    const files: Uint8Array[] = [];
    for (const [name, value] of form) {
      if (typeof value === 'string') put(fields, name, value);
      else files.push(new Uint8Array(await value.arrayBuffer()));
    }
    // The parser puts a replacement for what is no UTF-8. Where there are no files, all of the body is text.
    if (files.length === 0) decodeUtf8(body);
    return { fields, files };
  }
  return { fields: new Map(), files: [] };
}

function decodeUtf8(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw badRequest('The body is not valid UTF-8.');
  }
}

/** The pairs of a urlencoded text. Strict, where the platform's own parser quietly repairs what is broken. */
function pairs(text: string): Fields {
  const fields = new Map<string, string>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const cut = pair.indexOf('=');
    put(fields, decode(cut < 0 ? pair : pair.slice(0, cut)), cut < 0 ? '' : decode(pair.slice(cut + 1)));
  }
  return fields;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw badRequest('The percent-encoding of the parameters is broken.');
  }
}

/** Most fields that a request may have, as in the reference: more than any endpoint knows, and few enough to list. */
const MOST_FIELDS = 1_000;

function put(fields: Map<string, string>, name: string, value: string): void {
  if (fields.size >= MOST_FIELDS) throw badRequest(`A request has at most ${MOST_FIELDS} parameters.`);
  if (fields.has(name)) throw badRequest(`The parameter '${name.slice(0, 60)}' is given more than once.`);
  fields.set(name, value);
}

/** The fields of the query string, which the gateway has decoded. */
export function queryFields(query: Readonly<Record<string, readonly string[] | undefined>> | null): Fields {
  const fields = new Map<string, string>();
  for (const [name, values] of Object.entries(query ?? {})) {
    for (const value of values ?? []) put(fields, name, value);
  }
  return fields;
}

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
