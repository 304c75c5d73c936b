import { badRequest, refusal } from '../domain/problems.ts';

/** Parameters as they came, by name; text that still has to be read as its declaration says. */
export type Fields = ReadonlyMap<string, string>;

const FORM = /^application\/x-www-form-urlencoded\b/i;
const MULTIPART = /^multipart\/form-data\b/i;

/**
 * Reads the fields of a body (wire facts 1.2): form and multipart bodies on any method; a body of any other type
 * has no fields. File parts are not fields: endpoints that take files read them themselves.
 *
 * Throws `BAD_REQUEST` for broken encoding and for a name given twice, which could mean either value.
 */
export async function bodyFields(body: Uint8Array, contentType: string): Promise<Fields> {
  if (FORM.test(contentType)) return pairs(decodeUtf8(body));
  if (MULTIPART.test(contentType)) {
    let form: FormData;
    try {
      form = await new Response(Buffer.from(body), { headers: { 'content-type': contentType } }).formData();
    } catch {
      throw badRequest('The multipart body is malformed.');
    }
    const fields = new Map<string, string>();
    for (const [name, value] of form) if (typeof value === 'string') put(fields, name, value);
    // The parser puts a replacement for what is no UTF-8. Where there are no files, all of the body is text.
    if (fields.size === [...form].length) decodeUtf8(body);
    return fields;
  }
  return new Map();
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

function put(fields: Map<string, string>, name: string, value: string): void {
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
