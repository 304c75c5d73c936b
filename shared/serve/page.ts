import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Input, Parameter } from '../endpoints/parameter.ts';
import { Refusal } from '../kernel/errors.ts';
import type { Outside } from '../kernel/outside.ts';
import { failurePage } from '../pages/failure.ts';
import { type FieldProblem, FORM_TOKEN } from '../pages/form.ts';
import { documentOf, type Page } from '../pages/layout.ts';
import { POLICY } from '../pages/style.ts';
import { checkKeyFirst } from './admission.ts';
import type { ClientFactories, Clients } from './container.ts';
import type { Incoming } from './incoming.ts';
import { BrowserReply } from './reply.ts';
import type { HandlerSpec } from './request.ts';
import {
  type AnyonesRequest,
  authenticated,
  container,
  forAnyone,
  type Handle,
  handlerOf,
  type Served,
} from './serve.ts';
import { endSession, isFormToken, readSession, rootOf } from './session.ts';

/**
 * Goes with every reply to a browser. `same-origin` keeps the tokens in our addresses from other sites; with
 * `no-referrer`, browsers would not say where our own forms come from.
 */
const HEADERS = {
  'Cache-Control': 'private, no-store',
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
};

type Headers = Readonly<Record<string, string>>;

/** Shows a page. */
export const showPage = (page: Page, status = 200, headers: Headers = {}): BrowserReply =>
  new BrowserReply({
    statusCode: status,
    // Pages about files are shown by handlers that have other headers.
    headers: { ...HEADERS, 'Content-Type': 'text/html; charset=utf-8', ...headers },
    body: documentOf(page),
  });

/** Shows a page about a refusal, such as the form that was refused, with the status of the refusal. */
export function showRefusal(page: Page, { status, fields }: Refused, headers: Headers = {}): BrowserReply {
  const retry = status === 429 ? { 'Retry-After': String(fields['retry-after']) } : {};
  // Browsers answer 401 by asking for credentials of HTTP, which no page takes.
  return showPage(page, status === 401 ? 403 : status, { ...headers, ...retry });
}

/** What a form says about a refusal. */
export const problemOf = ({ field, message }: Refusal): FieldProblem => ({ field, text: message });

type Refused = Pick<Refusal, 'status' | 'fields'>;

/** Sends the browser on to a path of this service, with a GET. The path begins with one slash (`ownPath`). */
export const seeOther = (baseUrl: string, path: string, headers: Headers = {}): BrowserReply =>
  new BrowserReply({
    statusCode: 303,
    headers: { ...headers, Location: `${rootOf(baseUrl)}${path}` },
    body: '',
  });

/** Hands out a text file. */
export const download = (name: string, text: string): BrowserReply =>
  new BrowserReply({
    statusCode: 200,
    headers: {
      'Content-Type': 'text/plain; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}"`,
    },
    body: text,
  });

/** A path of this service that came from outside, or undefined if it could lead elsewhere. */
export function ownPath(path: string | undefined): string | undefined {
  const base = 'https://own.invalid';
  // Browsers take `/\\other.example` and `//other.example` for other hosts, and the parser of addresses does so too.
  const url = path?.startsWith('/') ? URL.parse(path, base) : null;
  if (url?.origin !== base || url.pathname.startsWith('//')) return undefined;
  return `${url.pathname}${url.search}`;
}

/**
 * Makes the Lambda handler of a page for people who have signed in: as `serve`, but the credentials are in a cookie, and
 * `run` returns what `showPage`, `seeOther` or `download` make. A browser without a valid session is sent to the sign-in.
 * A form is refused unless it came from a page of ours (`checkOwnForm`).
 */
export function servePage<
  P extends Record<string, Parameter>,
  I = Input<P>,
  D = undefined,
  F extends ClientFactories = Record<never, never>,
>(
  endpoint: Endpoint<P, object>,
  spec: HandlerSpec<Input<P>, I, D, BrowserReply, Clients<F>>,
  factories?: F,
): Served {
  return pageHandler(endpoint, authenticated(endpoint, spec, factories), checkKeyFirst);
}

/** The same for a page that anyone may see. */
export function servePageToAnyone<
  P extends Record<string, Parameter>,
  M extends ClientFactories = Record<never, never>,
>(
  endpoint: Endpoint<P, object>,
  run: (request: AnyonesRequest<Input<P>, Clients<M>>) => Promise<BrowserReply>,
  factories?: M,
): Served {
  return pageHandler(endpoint, forAnyone(run, factories));
}

function pageHandler(
  endpoint: Endpoint<Record<string, Parameter>, object>,
  handle: Handle<Outside, object>,
  checkKey?: Handle<Outside, void>,
): Served {
  return handlerOf(endpoint, container, {
    ...(checkKey && { checkKey }),
    handle: async (outside, incoming) => {
      if (endpoint.method === 'POST') checkOwnForm(incoming, endpoint.access !== 'anyone');
      return ((await handle(outside, incoming)) as BrowserReply).result;
    },
    failed: (error, incoming) => failed(error, incoming, endpoint),
    headers: HEADERS,
  });
}

/**
 * Refuses a form that did not come from a page of ours to this very browser: browsers say from where a form is sent, and
 * its token belongs to a cookie of this browser.
 */
function checkOwnForm(incoming: Incoming, isSession: boolean): void {
  if (incoming.bodyProblem !== undefined) throw incoming.bodyProblem;
  const { baseUrl } = incoming.surroundings;
  const origin = baseUrl.slice(0, baseUrl.length - rootOf(baseUrl).length);
  const site = incoming.header('sec-fetch-site') ?? 'same-origin';
  const token = incoming.fields.get(FORM_TOKEN) ?? '';
  const isOwn = incoming.header('origin') === origin && site === 'same-origin';
  if (!isOwn || !isFormToken(incoming.surroundings, isSession, token)) {
    throw new Refusal(
      'BAD_REQUEST',
      403,
      'This form is out of date, or did not come from this site. Nothing was changed. Load the page again, and try once more.',
      {},
    );
  }
}

/** The page about an error. A browser whose session is missing or has ended is sent to the sign-in. */
function failed(error: unknown, incoming: Incoming, { method, access }: Endpoint): APIGatewayProxyResult {
  const { baseUrl } = incoming.surroundings;
  const { status, code, message, fields } = error instanceof Refusal ? error : FAULT;
  if (code === 'UNAUTHORIZED' && access !== 'anyone') {
    const next = method === 'GET' ? `?next=${encodeURIComponent(incoming.path)}` : '';
    const ended = readSession(incoming.surroundings) === undefined ? {} : endSession(baseUrl);
    return seeOther(baseUrl, `/login/${next}`, ended).result;
  }
  return showRefusal(failurePage(rootOf(baseUrl), status, message), { status, fields }).result;
}

/** An error that nobody planned. Its details are in the operator's log only. */
const FAULT = {
  status: 500,
  code: 'INTERNAL_SERVER_ERROR',
  message: 'It has been reported. Try again in a while.',
  fields: {} as Refusal['fields'],
};
