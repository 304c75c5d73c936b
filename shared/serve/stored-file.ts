import type { APIGatewayProxyResult } from 'aws-lambda';
import { s3Objects } from '../adapters/objects.ts';
import { accessFile, loadFileAccess } from '../domain/files/access.ts';
import type { StoredFile } from '../domain/files/file.ts';
import { pathIn } from '../domain/files/request.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { filePath } from '../endpoints/file-pages.ts';
import type { Input, Parameter } from '../endpoints/parameter.ts';
import { Refusal } from '../kernel/errors.ts';
import type { Objects } from '../kernel/outside.ts';
import { failurePage } from '../pages/failure.ts';
import { checkKeyFirst } from './admission.ts';
import type { ClientFactories, Clients } from './container.ts';
import type { Incoming } from './incoming.ts';
import { showRefusal } from './page.ts';
import { BrowserReply, failure, redirection } from './reply.ts';
import type { HandlerSpec } from './request.ts';
import { authenticated, container, handlerOf, type Served } from './serve.ts';
import { endSession, readSession, rootOf } from './session.ts';

/** A file as it is served. */
interface StoredBytes {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** What its owner called it. */
  readonly name: string;
  /** Whether a browser may show it in place. */
  readonly isInline: boolean;
}

/**
 * Nothing in a file may run, load anything or know this origin. Browsers show no PDF in a sandbox; scripts of a PDF never
 * reach the page.
 */
const SANDBOX = "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox";
const PDF = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'";

/** Hands out a file that people uploaded, as what it was taken for, or not at all. */
export const storedFile = ({ bytes, contentType, name, isInline }: StoredBytes): BrowserReply =>
  new BrowserReply({
    statusCode: 200,
    headers: {
      'Content-Type': contentType,
      'Content-Disposition': `${isInline ? 'inline' : 'attachment'}; ${filenameParameters(name)}`,
      // A user may lose access to a file later; a copy in the browser's cache is out of our control.
      'Cache-Control': 'private, max-age=3600, immutable',
      'Content-Security-Policy': contentType === 'application/pdf' ? PDF : SANDBOX,
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Authorization, Cookie',
    },
    body: Buffer.from(bytes).toString('base64'),
    isBase64Encoded: true,
  });

/** The parameters of an endpoint that has at least those of the path. */
type FileInput<P extends typeof filePath> = Input<P> & Input<typeof filePath>;

/** A name as RFC 6266 has it: for clients that know ASCII only, and whole. */
function filenameParameters(name: string): string {
  const ascii = name.replaceAll(/[^ -~]|["\\%]/gu, '_');
  const whole = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `filename="${ascii}"; filename*=UTF-8''${whole}`;
}

/**
 * Makes the Lambda handler of an endpoint that serves a file.
 *
 * @param access the bytes to serve of a file that the caller may have
 */
export const serveStoredFile = <P extends typeof filePath>(
  endpoint: Endpoint<P, object>,
  access: (objects: Objects, realm: string, file: StoredFile, parameters: Input<P>) => Promise<StoredBytes>,
): Served =>
  serveToSignedIn(
    endpoint,
    {
      parse: (parameters) => parameters as FileInput<P>,
      load: ({ input, outside, realm, userId }) => loadFileAccess(outside, realm, userId, pathIn(input)),
      run: async ({ input, realm, caller, clients }, { reader, held }) => {
        const file = await accessFile(reader, caller.standing, held);
        return storedFile(await access(clients.objects, realm, file, input));
      },
    },
    { objects: s3Objects },
  );

/**
 * Makes the Lambda handler of an endpoint for people with credentials or a session. Errors are pages, or pictures for a
 * client that shows images. Who is not signed in is sent to the sign-in (companion facts 1.4).
 */
export function serveToSignedIn<
  P extends Record<string, Parameter>,
  I = Input<P>,
  D = undefined,
  F extends ClientFactories = Record<never, never>,
>(
  endpoint: Endpoint<P, object>,
  spec: HandlerSpec<Input<P>, I, D, BrowserReply, Clients<F>>,
  factories?: F,
): Served {
  const handle = authenticated(endpoint, spec, factories);
  return handlerOf(endpoint, container, {
    checkKey: checkKeyFirst,
    handle: async (outside, incoming) => ((await handle(outside, incoming)) as BrowserReply).result,
    failed,
  });
}

function failed(error: unknown, incoming: Incoming): APIGatewayProxyResult {
  const { baseUrl } = incoming.surroundings;
  const isStranger = error instanceof Refusal && error.status === 401;
  const isKnown = error instanceof Refusal && (error.status === 403 || error.status === 404);
  if (!isKnown && !(isStranger && incoming.header('authorization') === undefined)) return failure(error);
  const vary = { Vary: 'Accept' };
  if (prefersPicture(incoming.header('accept'))) return picture(isStranger ? 403 : error.status, vary);
  if (!isStranger) {
    return showRefusal(failurePage(rootOf(baseUrl), error.status, error.message), error, vary).result;
  }
  const ended = readSession(incoming.surroundings) === undefined ? {} : endSession(baseUrl);
  const signIn = new URL(`${baseUrl}/login/?next=${encodeURIComponent(incoming.path)}`);
  return redirection(signIn, { ...vary, ...ended }).result;
}

/** A grey square. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==';

const picture = (statusCode: number, headers: Readonly<Record<string, string>>): APIGatewayProxyResult => ({
  statusCode,
  headers: { 'Content-Type': 'image/png', 'Cache-Control': 'private, no-store', ...headers },
  body: PICTURE,
  isBase64Encoded: true,
});

/** Whether a client would rather have a PNG image than a page (RFC 9110, 12.5.1). */
export function prefersPicture(accept = ''): boolean {
  const ranges = accept.toLowerCase().split(',').map(rangeOf);
  const weightOf = (type: string, family: string): number => {
    for (const wanted of [type, `${family}/*`, '*/*']) {
      const range = ranges.find(({ name }) => name === wanted);
      if (range !== undefined) return range.weight;
    }
    return 0;
  };
  return weightOf('image/png', 'image') > weightOf('text/html', 'text');
}

function rangeOf(text: string): { readonly name: string; readonly weight: number } {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return { name, weight: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
}
