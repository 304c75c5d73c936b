import type { APIGatewayProxyEvent } from 'aws-lambda';
import { firstCodePoints } from '../domain/folding.ts';
import { badRequest, refusal } from '../domain/problems.ts';
import { type Endpoint, requestSizeOf } from '../endpoints/endpoint.ts';
import { pathFields, queryFields, readForm } from './form.ts';
import { checkAddress, type Read, readParameters } from './parameters.ts';
import { type PublicAddress, publicAddress } from './public-address.ts';
import type { UnverifiedRequest } from './request.ts';

/** A request as the gateway handed it over. Nothing of its body is parsed before `read` is called. */
export class Incoming {
  readonly #endpoint: Endpoint;
  readonly #event: APIGatewayProxyEvent;
  #read: Promise<Read> | undefined;
  /** Headers that the reply carries whatever becomes of the request. */
  readonly replyHeaders: Record<string, string> = {};

  constructor(endpoint: Endpoint, event: APIGatewayProxyEvent) {
    this.#endpoint = endpoint;
    this.#event = event;
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
    for (const [key, value] of Object.entries(this.#event.headers ?? {}))
      if (key.toLowerCase() === name) return value;
    return undefined;
  }

  /** Refuses a path that no address has, whoever calls (`checkAddress` of the parameters). */
  checkAddress(): void {
    checkAddress(this.#endpoint.parameters, pathFields(this.#event.pathParameters));
  }

  /**
   * Parses the parameters, once. Refuses a request that is larger than its endpoint takes, a body that is broken, and
   * the first parameter that is not as declared (wire facts 1.2, 1.3).
   */
  read(): Promise<Read> {
    this.#read ??= this.#parsed();
    return this.#read;
  }

  /** The name of the client program: the parameter `client`, or else the product token of the `User-Agent`. */
  clientName({ client }: Pick<Read, 'client'>): string {
    // At most 30 characters (wire facts 3.9). The table keeps well-formed text only.
    const agent = (client ?? this.header('user-agent'))?.toWellFormed().trim();
    return firstCodePoints(agent?.split(/[/\s]/)[0] ?? '', 30) || 'Unspecified';
  }

  async #parsed(): Promise<Read> {
    const { parameters, file } = this.#endpoint;
    const most = requestSizeOf(this.#endpoint);
    if (this.size > most.bytes) throw refusal('requestTooLarge');
    const { body, isBase64Encoded, multiValueQueryStringParameters, pathParameters } = this.#event;
    const bytes = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
    const { fields, files } = await readForm(bytes, this.header('content-type') ?? '');
    const query = queryFields(multiValueQueryStringParameters);
    const read = readParameters(parameters, pathFields(pathParameters), fields, query, most);
    return file === undefined ? read : { ...read, file: theFile(files) };
  }
}

/** The one file of an upload (wire facts 11). */
function theFile([file, ...others]: readonly Uint8Array[]): Uint8Array {
  if (file === undefined || others.length > 0) throw badRequest('Send exactly one file.');
  return file;
}
