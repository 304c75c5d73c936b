import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { type Endpoint, requestSizeOf } from '../endpoints/endpoint.ts';
import { badRequest } from '../kernel/errors.ts';
import { firstCodePoints } from '../kernel/folding.ts';
import { type Credentials, readCredentials } from './credentials.ts';
import {
  checkAddress,
  type Fields,
  pathFields,
  queryFields,
  type Read,
  readParameters,
} from './parameters.ts';
import type { UnverifiedRequest } from './request.ts';

export type Middleware = MiddlewareObj<Incoming, APIGatewayProxyResult>;

/** A request on its way through the middlewares (`chain.ts`), which read it and add to it. */
export class Incoming {
  readonly #endpoint: Endpoint;
  readonly #event: APIGatewayProxyEvent;
  #read: Read | undefined;
  #credentials: Credentials | undefined;
  /** By their names, in small letters once they are normalized. */
  headers: Readonly<Record<string, string | undefined>>;
  /** As it came, until it is parsed. */
  body: unknown;
  isBase64Encoded: boolean;
  /** What the body held, once it is parsed. */
  fields: Fields = new Map();
  files: readonly Uint8Array[] = [];
  /** What is wrong with the body. It is told to those who may call, when they read the parameters. */
  bodyProblem: unknown;
  /** Headers that the reply carries whatever becomes of the request. */
  readonly replyHeaders: Record<string, string> = {};

  constructor(endpoint: Endpoint, event: APIGatewayProxyEvent) {
    this.#endpoint = endpoint;
    this.#event = event;
    this.headers = event.headers ?? {};
    this.body = event.body;
    this.isBase64Encoded = event.isBase64Encoded;
  }

  get requestId(): string | undefined {
    return this.#event.requestContext?.requestId;
  }

  /** Where the client believes the service to be. */
  get address(): PublicAddress {
    return publicAddress(this.#event, (name) => this.header(name));
  }

  /** What handlers are told of the request besides its parameters. */
  get surroundings(): Pick<UnverifiedRequest<unknown>, 'baseUrl' | 'cookies' | 'fromOtherSite'> {
    return {
      baseUrl: this.address.baseUrl,
      cookies: this.header('cookie'),
      fromOtherSite: this.header('sec-fetch-site') === 'cross-site',
    };
  }

  /** Bytes of the body, as near as can be told without decoding it, and characters of the query. */
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

  /** The caller's credentials (`readCredentials`), or the refusal. */
  get credentials(): Credentials {
    this.#credentials ??= readCredentials(this.header('authorization'));
    return this.#credentials;
  }

  /** Refuses a path that no address has, whoever calls (`checkAddress` of the parameters). */
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
function theFile([file, ...others]: readonly Uint8Array[]): Uint8Array {
  if (file === undefined || others.length > 0) throw badRequest('Send exactly one file.');
  return file;
}

/** Where a client believes the service to be. */
export interface PublicAddress {
  /** In small letters and without a port; empty where it is no host at all. */
  readonly host: string;
  /** Without a slash at the end. */
  readonly baseUrl: string;
}

const AUTHORITY = /^[a-z0-9.-]{1,255}(:\d{1,5})?$/i;

/**
 * The host that the client used: what the proxy before the gateway says (CloudFront's function sets
 * `X-Forwarded-Host` whatever the client sent), or else the gateway's own.
 *
 * Whoever calls the gateway itself can say any host there. It chooses an organization, as another address would, and
 * comes back to nobody but that caller; what a caller may do hangs on the key alone. A browser cannot be made to send
 * it on somebody's behalf. So it must never be more than a choice: no reply that it is in may be kept by a cache, and
 * nothing may be allowed because of it.
 */
export function publicAddress(
  event: APIGatewayProxyEvent,
  header: (name: string) => string | undefined,
): PublicAddress {
  const forwarded = header('x-forwarded-host');
  const passedOn = forwarded !== undefined && AUTHORITY.test(forwarded);
  const given = passedOn ? forwarded : (header('host') ?? event.requestContext?.domainName ?? '');
  const host = given.toLowerCase().replace(/:\d+$/, '');
  const scheme = header('x-forwarded-proto')?.split(',')[0]?.trim() === 'https' ? 'https' : 'http';
  return {
    host: host.length <= 255 && host.isWellFormed() ? host : '',
    baseUrl: `${scheme}://${given}${passedOn ? '' : stagePath(event)}`,
  };
}

/** At API Gateway's own address the name of the stage stands before each path, and so in the base URL. */
function stagePath({ requestContext }: APIGatewayProxyEvent): string {
  const { stage, path } = requestContext ?? {};
  return stage !== undefined && path?.startsWith(`/${stage}/`) ? `/${stage}` : '';
}
