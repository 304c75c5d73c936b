import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { methodNotAllowed } from '../gateway-replies.ts';
import type { GatewayReply } from './gateway-reply.ts';
import type { HttpRequest } from './http-request.ts';

interface Asset {
  readonly type: string;
  /** Finds the file, when somebody asks for it. */
  readonly file: () => string;
}

const own = (name: string) => () => join(import.meta.dirname, 'reference', name);
const packaged = (name: string) => () =>
  join(dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json'))), name);

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** Every address of the page. No part of a request ever becomes part of the name of a file. */
const assets: ReadonlyMap<string, Asset> = new Map([
  ['/', { type: HTML, file: own('page.html') }],
  ['/reference/page.js', { type: SCRIPT, file: own('page.js') }],
  ['/reference/page.css', { type: CSS, file: own('page.css') }],
  ['/reference/swagger-ui-bundle.js', { type: SCRIPT, file: packaged('swagger-ui-bundle.js') }],
  ['/reference/swagger-ui.css', { type: CSS, file: packaged('swagger-ui.css') }],
  ['/reference/favicon.png', { type: 'image/png', file: packaged('favicon-32x32.png') }],
]);

/** Where browsers find the page and all that belongs to it. */
export const referencePaths: readonly string[] = [...assets.keys()];

/**
 * What the page may do: run and show what comes from here, and call the API. Icons are `data:` addresses in the
 * renderer's style sheet, and images that the API answers with are shown from memory, as `blob:`.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const safety = [
  ['Content-Security-Policy', policy],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
] as const;

/** The methods that a page answers to, itself aside from what describes it. */
const allowed = ['GET', 'HEAD'];

/**
 * The reference page: the API's OpenAPI document, rendered by Swagger UI from the packages.
 *
 * @returns The reply, or undefined where the page has no such address.
 */
export async function reference({ method, path, headers }: HttpRequest): Promise<GatewayReply | undefined> {
  const asset = assets.get(path);
  if (asset === undefined) return undefined;
  if (method === 'OPTIONS') return { status: 204, headers: [allow], body: nothing };
  if (!allowed.includes(method)) {
    const refusal = Buffer.from(methodNotAllowed(allowed));
    return { status: 405, headers: [['Content-Type', 'application/json'], allow], body: refusal };
  }
  const body = await readFile(asset.file());
  const tag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  // A browser asks each time, and gets the bytes again only when they are others.
  const kept = [['ETag', tag], ['Cache-Control', 'no-cache'], ...safety] as const;
  if (headers['if-none-match'] === tag) return { status: 304, headers: kept, body: nothing };
  return { status: 200, headers: [['Content-Type', asset.type], ...kept], body };
}

const allow = ['Allow', allowed.join(', ')] as const;
const nothing = Buffer.alloc(0);
