import urlencodeBodyParser from '@middy/http-urlencode-body-parser';
import { type Endpoint, requestSizeOf } from '../endpoints/endpoint.ts';
import { badRequest, refusal } from '../kernel/errors.ts';
import type { Middleware } from './incoming.ts';
import { fieldsOf, MAX_FIELDS, tooManyFields } from './parameters.ts';

const FORM = /^application\/x-www-form-urlencoded\b/i;
const MULTIPART = /^multipart\/form-data\b/i;

/**
 * Parses the body in these steps. A refusal is kept until the parameters are read, since only callers who may call
 * learn what is wrong with a request.
 */
export const parseBody = (...steps: readonly Middleware[]): Middleware => ({
  async before(request) {
    try {
      for (const { before } of steps) await before?.(request);
    } catch (error) {
      request.event.bodyProblem = error;
    }
  },
});

/** Refuses a request that is larger than its endpoint takes, before any of it is decoded. */
export const bodyLimit = (endpoint: Endpoint): Middleware => ({
  before({ event }) {
    if (event.size > requestSizeOf(endpoint).bytes) throw refusal('requestTooLarge');
  },
});

const parser = urlencodeBodyParser({ disableContentTypeCheck: true }) as unknown as Middleware;

/**
 * Parses a form on any method (wire facts 1.2). The parser repairs what is broken and reads no more than
 * `MAX_FIELDS` pairs, so both are checked before it runs; a name given twice has a list of values after it.
 *
 * Throws `BAD_REQUEST` for broken encoding and for a name given twice, which could mean either value.
 */
export const urlencodedBody: Middleware = {
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
export const multipartBody: Middleware = {
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
