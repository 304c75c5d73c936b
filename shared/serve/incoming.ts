import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { badRequest, refusal } from '../kernel/errors.ts';
import { digestOf, firstCodePoints, folded } from '../kernel/text.ts';
import { limits } from '../model/realm/realm.ts';
import type { Held } from './held.ts';
import {
  checkAddress,
  type Fields,
  pathFields,
  queryFields,
  type Read,
  readParameters,
  requestSizeOf,
} from './parameters.ts';
import type { UnverifiedRequest, UploadedFile } from './request.ts';
import { readSession } from './session.ts';

export type Middleware = MiddlewareObj<Incoming, APIGatewayProxyResult>;

/** A request on its way through the middlewares (`serve.ts`). */
export class Incoming {
  readonly #endpoint: Endpoint;
  readonly #event: APIGatewayProxyEvent;
  #read: Read | undefined;
  #credentials: Credentials | undefined;
  #address: PublicAddress | undefined;
  /** By their names, in small letters once they are normalized. */
  headers: Readonly<Record<string, string | undefined>>;
  /** As it came, until it is parsed. */
  body: unknown;
  isBase64Encoded: boolean;
  /** What the body held, once it is parsed. */
  fields: Fields = new Map();
  files: readonly UploadedFile[] = [];
  /** What is wrong with the body: thrown when a caller who may call reads the parameters. */
  bodyProblem: unknown;
  /** Headers of the reply, whether or not the request succeeds. */
  readonly replyHeaders: Record<string, string> = {};

  /** The reply, if it is held. */
  held: Held | undefined;
  /** What was held before, if that is now to be the reply. */
  readonly late: Held | undefined;

  constructor(endpoint: Endpoint, event: APIGatewayProxyEvent, late?: Held) {
    this.#endpoint = endpoint;
    this.late = late;
    this.#event = event;
    this.headers = event.headers ?? {};
    this.body = event.body;
    this.isBase64Encoded = event.isBase64Encoded;
  }

  get requestId(): string | undefined {
    return this.#event.requestContext?.requestId;
  }

  /** The host and base URL that the client used. */
  get address(): PublicAddress {
    this.#address ??= publicAddress(this.#event, (name) => this.header(name));
    return this.#address;
  }

  /**
   * The network address of the client, for limits: what CloudFront's function says, or who called the gateway. A caller of
   * the gateway itself can say anything, so it must be no more than one of two limits.
   */
  get viewerAddress(): string {
    return this.header('x-viewer-address') ?? this.#event.requestContext?.identity?.sourceIp ?? '';
  }

  /** What handlers get besides the parameters. */
  get surroundings(): Pick<
    UnverifiedRequest<unknown>,
    'baseUrl' | 'cookies' | 'userAgent' | 'fromOtherSite'
  > {
    return {
      baseUrl: this.address.baseUrl,
      cookies: this.header('cookie'),
      userAgent: this.header('user-agent'),
      fromOtherSite: this.header('sec-fetch-site') === 'cross-site',
    };
  }

  /** About how many bytes the body has, without decoding it, plus the characters of the query. */
  get size(): number {
    const { body, isBase64Encoded, multiValueQueryStringParameters: query } = this.#event;
    const inBody = body?.length ?? 0;
    const inQuery = Object.entries(query ?? {})
      .flatMap(([name, values]) => [name, ...(values ?? [])])
      .reduce((sum, text) => sum + text.length, 0);
    return (isBase64Encoded ? Math.floor((inBody * 3) / 4) : inBody) + inQuery;
  }

  /** The value of a header, by its name in small letters. */
  header(name: string): string | undefined {
    return this.headers[name];
  }

  /** The body as bytes, before it is parsed. */
  get bytes(): Buffer {
    const { body, isBase64Encoded } = this.#event;
    return Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
  }

  /** The caller's credentials (`readCredentials`), at a page those of the session, or the refusal. */
  get credentials(): Credentials {
    const { isPage, takesCredentials } = this.#endpoint;
    const header = this.header('authorization');
    const isSession = isPage && !(takesCredentials && header !== undefined);
    this.#credentials ??= isSession ? sessionCredentials(this.surroundings) : readCredentials(header);
    return this.#credentials;
  }

  /** The path of the request, as it was sent. */
  get path(): string {
    return this.#event.path ?? '/';
  }

  /** Refuses a path that does not exist (`checkAddress` of the parameters). */
  checkAddress(): void {
    checkAddress(this.#endpoint.parameters, pathFields(this.#event.pathParameters));
  }

  /**
   * Reads the parameters, once. Refuses a body that is too large or broken, and the first parameter that is not as
   * declared (wire facts 1.2, 1.3).
   */
  async read(): Promise<Read> {
    this.#read ??= this.#readParameters();
    return this.#read;
  }

  /** The name of the client program: the parameter `client`, or else the product token of the `User-Agent`. */
  clientName({ client }: Pick<Read, 'client'>): string {
    // At most 30 characters (wire facts 3.9). The table keeps well-formed text only.
    const agent = (client ?? this.header('user-agent'))?.toWellFormed().trim();
    return firstCodePoints(agent?.split(/[/\s]/)[0] ?? '', 30) || 'Unspecified';
  }

  #readParameters(): Read {
    if (this.bodyProblem !== undefined) throw this.bodyProblem;
    const { parameters, file } = this.#endpoint;
    const path = pathFields(this.#event.pathParameters);
    const query = queryFields(this.#event.multiValueQueryStringParameters);
    const read = readParameters(parameters, path, this.fields, query, requestSizeOf(this.#endpoint));
    return file === undefined ? read : { ...read, file: theFile(this.files) };
  }
}

/** The one file of an upload (wire facts 11). */
function theFile([file, ...others]: readonly UploadedFile[]): UploadedFile {
  if (file === undefined || others.length > 0) throw badRequest('Send exactly one file.');
  return file;
}

/** The public address of the service, as the client used it. */
export interface PublicAddress {
  /** In small letters and without a port; empty where it is no host at all. */
  readonly host: string;
  /** Without a slash at the end. */
  readonly baseUrl: string;
}

const AUTHORITY = /^[a-z0-9.-]{1,255}(:\d{1,5})?$/i;

/**
 * The host that the client used: `X-Forwarded-Host`, which CloudFront's function overwrites, or else the gateway's own.
 *
 * A caller of the gateway itself can send any host. That only chooses an organization, as another address would; what a
 * caller may do depends on the key alone. So no reply with the host in it may be cached, and nothing may be allowed
 * because of the host.
 */
export function publicAddress(
  event: APIGatewayProxyEvent,
  header: (name: string) => string | undefined,
): PublicAddress {
  const forwarded = header('x-forwarded-host');
  const isForwarded = forwarded !== undefined && AUTHORITY.test(forwarded);
  const authority = isForwarded ? forwarded : (header('host') ?? event.requestContext?.domainName ?? '');
  const host = authority.toLowerCase().replace(/:\d+$/, '');
  const scheme = header('x-forwarded-proto')?.split(',')[0]?.trim() === 'https' ? 'https' : 'http';
  return {
    host: host.length <= 255 && host.isWellFormed() ? host : '',
    baseUrl: `${scheme}://${authority}${isForwarded ? '' : stagePath(event)}`,
  };
}

/** At API Gateway's own address the name of the stage stands before each path, and so in the base URL. */
function stagePath({ requestContext }: APIGatewayProxyEvent): string {
  const { stage, path } = requestContext ?? {};
  return stage !== undefined && path?.startsWith(`/${stage}/`) ? `/${stage}` : '';
}

/**
 * HTTP Basic credentials: the folded email, and the digest of the key, which itself goes no further. Every spelling of
 * the header (case, blanks, padding) gives the same value, so that limits and caches cannot be dodged by it.
 */
export interface Credentials {
  readonly email: string;
  readonly keyDigest: string;
}

/** Enough for the longest address and a key in base64, and for blanks. */
const MAX_HEADER = 2_000;

/** Stands for names that are too long for an address. No account has it, and the look-up costs the same. */
const NO_ADDRESS = '';

/**
 * Reads the `Authorization` header (wire facts 1.3): no header, an empty one, or one that does not decode into exactly two
 * parts, is `UNAUTHORIZED`; another scheme is `BAD_REQUEST`. Email and key are trimmed.
 */
export function readCredentials(header: string | undefined): Credentials {
  if (header === undefined || header.trim() === '') throw refusal('noCredentials');
  const [scheme, encoded, ...rest] = header.trim().split(/\s+/);
  if (scheme?.toLowerCase() !== 'basic') throw refusal('unsupportedScheme');
  if (encoded === undefined || rest.length > 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) {
    throw refusal('unauthorized');
  }
  if (header.length > MAX_HEADER) throw refusal('unauthorized');
  return decodeCredentials(encoded, 'base64');
}

/** Reads the credentials in the cookie of a session (`session.ts`). Without a valid one, it is `UNAUTHORIZED`. */
function sessionCredentials(request: Pick<UnverifiedRequest<unknown>, 'baseUrl' | 'cookies'>): Credentials {
  const session = readSession(request);
  if (session === undefined || session.length > MAX_HEADER) throw refusal('noCredentials');
  return decodeCredentials(session, 'base64url');
}

function decodeCredentials(encoded: string, encoding: 'base64' | 'base64url'): Credentials {
  const parts = Buffer.from(encoded, encoding).toString('utf8').split(':');
  const [email, key] = parts;
  if (parts.length !== 2 || email === undefined || key === undefined) throw refusal('unauthorized');
  const name = email.trim();
  return { email: name.length > limits.email ? NO_ADDRESS : folded(name), keyDigest: digestOf(key.trim()) };
}
