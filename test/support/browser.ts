import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Served } from '../../shared/serve/serve.ts';
import { beginSession } from '../../shared/serve/session.ts';
import { holdingToGrants } from './grants.ts';
import { onlyDeclared, type Person, type TestRealm } from './realm.ts';

/** What a browser got. */
export interface BrowserReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface BrowserRequest {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** The realm as another container sees it. */
  readonly realm?: TestRealm;
}

/** What functions see of a browser: it keeps cookies, and says where its forms come from. */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly #realm: TestRealm;

  constructor(realm: TestRealm) {
    this.#realm = realm;
  }

  /** The address of the service. */
  get origin(): string {
    return `https://${this.#realm.host}`;
  }

  /** Gives it the session of a user. */
  signIn({ email, apiKey }: Person): void {
    this.#keep(beginSession(this.origin, email, apiKey)['Set-Cookie']);
  }

  /** Opens a page. */
  open(handler: Served, request: BrowserRequest = {}): Promise<BrowserReply> {
    return this.#send(handler, request, null);
  }

  /** Sends a form that came with a page: its hidden fields go with it. */
  submit(
    handler: Served,
    page: BrowserReply,
    fields: Readonly<Record<string, string>>,
    request: BrowserRequest = {},
  ): Promise<BrowserReply> {
    const body = new URLSearchParams({ form_token: hiddenField(page, 'form_token'), ...fields }).toString();
    return this.submitText(handler, body, request);
  }

  /** Sends this body as a form of our own would be sent. */
  submitText(
    handler: Served,
    body: string,
    { headers, ...request }: BrowserRequest = {},
  ): Promise<BrowserReply> {
    const own = { origin: this.origin, 'sec-fetch-site': 'same-origin' };
    return this.#send(handler, { ...request, headers: { ...own, ...headers } }, body);
  }

  async #send(handler: Served, request: BrowserRequest, body: string | null): Promise<BrowserReply> {
    const { path = null, query = {}, headers = {}, realm = this.#realm } = request;
    const { endpoint } = handler;
    const sent = {
      host: realm.host,
      'x-forwarded-proto': 'https',
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      ...(body !== null && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...(this.cookies.size > 0 && {
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      }),
      ...headers,
    };
    const event = {
      path: endpoint.path,
      headers: Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)),
      body,
      isBase64Encoded: false,
      pathParameters: path,
      multiValueQueryStringParameters: Object.fromEntries(
        Object.entries(query).map(([name, value]) => [name, [value]]),
      ),
      requestContext: { requestId: randomUUID(), domainName: realm.host },
    };
    const environment = onlyDeclared(realm.outside.environment, endpoint.needs);
    const result = await holdingToGrants(endpoint, () =>
      handler.with({ ...realm.outside, environment })(event as never),
    );
    const reply = { status: result.statusCode, headers: result.headers ?? {}, text: result.body };
    const cookie = reply.headers['Set-Cookie'];
    if (cookie !== undefined) this.#keep(String(cookie));
    expectSafe(reply);
    return reply;
  }

  #keep(header: string): void {
    const [pair = '', ...attributes] = header.split('; ');
    expect(attributes).toEqual(expect.arrayContaining(['Path=/', 'Secure', 'HttpOnly', 'SameSite=Lax']));
    const [name = '', value = ''] = pair.split('=');
    expect(name).toMatch(/^__Host-/);
    if (attributes.includes('Max-Age=0')) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** The value of a hidden field of a page. */
export const hiddenField = ({ text }: BrowserReply, name: string): string =>
  new RegExp(`<input type="hidden" name="${name}" value="([^"]*)">`).exec(text)?.[1] ?? '';

/** Holds every reply of every test to the policy: nothing runs, loads, is kept or framed, and none is a 401. */
function expectSafe({ status, headers, text }: BrowserReply): void {
  expect(headers).toMatchObject({
    'Cache-Control': 'private, no-store',
    'Content-Security-Policy': expect.stringMatching(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    ),
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
  });
  expect(headers).not.toHaveProperty('Access-Control-Allow-Origin');
  expect(status).not.toBe(401);
  expect(text).not.toMatch(/<script|\son\w+=|style=|javascript:/i);
}
