import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { answerRefusal, type StoreName } from './aws-error.ts';
import { type StoreCall, streamCalls } from './call-stream.ts';
import { dynamodbAccess } from './dynamodb-access.ts';
import { type Access, evaluate, type Statement, type Verdict } from './iam.ts';
import { isBulkDeletion, readsObject, s3Access } from './s3-access.ts';
import { sqsAccess } from './sqs-access.ts';
import type { Place } from './template-values.ts';

/** Somebody who may call the stores: a function, known by the access key id that it signs with. */
export interface Caller {
  readonly functionName: string;
  readonly roleName: string;
  readonly statements: readonly Statement[];
}

/** The one call of SES that functions make: it sends a mail from an address of a verified domain. */
export const SEND_MAIL = '/v2/email/outbound-emails';

export interface IamDoorOptions {
  readonly stores: Readonly<Record<StoreName, URL>>;
  /** By access key id. */
  readonly callers: ReadonlyMap<string, Caller>;
  readonly place: Pick<Place, 'region' | 'accountId'>;
}

/** DynamoDB takes requests of up to 16 MB; the other bodies that the door reads are smaller. */
const largestBody = 16 * 1024 * 1024;

/** Milliseconds that the door keeps a connection on which nothing happens: longer than its clients do. */
const keepAlive = 60_000;

/**
 * The way from the functions to the stores, the key service and the secrets: an HTTP proxy that lets through what the function's role
 * allows, and answers all else as AWS does. It knows the caller by the access key id of the signature. The
 * signature itself is not checked: the ids are random, and each is known to one function only.
 */
export class IamDoor {
  readonly #options: IamDoorOptions;
  readonly #used = new Map<string, Map<string, Access>>();
  readonly #agent = new Agent({ keepAlive: true });
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer({ keepAliveTimeout: keepAlive }, (incoming, outgoing) => {
    this.#handle(incoming, outgoing).catch(() => outgoing.destroy());
  });

  constructor(options: IamDoorOptions) {
    this.#options = options;
  }

  /**
   * Takes a connection. Calls of DynamoDB that are allowed pass as bytes, and everything else is
   * left to an HTTP server.
   */
  readonly take = (socket: Socket): void => {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    streamCalls(socket, {
      store: this.#options.stores.dynamodb,
      passes: this.#passes,
      otherwise: (it) => this.#server.emit('connection', it),
    });
  };

  /** What a function has done so far, every action on a resource once. */
  used(functionName: string): readonly Access[] {
    return [...(this.#used.get(functionName)?.values() ?? [])];
  }

  /** Ends all connections. */
  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#agent.destroy();
  }

  readonly #passes = ({ authorization, target, body }: StoreCall): boolean => {
    const { store, accessKeyId } = readCredential(authorization) ?? {};
    const caller = this.#options.callers.get(accessKeyId ?? '');
    if (store !== 'dynamodb' || caller === undefined) return false;
    const wanted = accessOfCall(store, target, body, this.#options.place);
    return wanted !== undefined && this.#refusalOf(caller, wanted) === undefined;
  };

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'http://door');
    const method = incoming.method ?? 'GET';
    const credential = readCredential(incoming.headers.authorization, url.searchParams);
    if (!credential) return answerRefusal(outgoing, 's3', 'not signed', 'The request is not signed.');
    const { store, accessKeyId } = credential;
    const caller = this.#options.callers.get(accessKeyId);
    if (!caller)
      return answerRefusal(outgoing, store, 'unknown caller', `No function has the key ${accessKeyId}.`);

    // Objects pass as they come, while calls say in their body what they want.
    const body =
      store !== 's3' || isBulkDeletion({ method, query: url.searchParams })
        ? await read(incoming)
        : undefined;
    const wanted = accessOf(store, incoming, url, body?.toString() ?? '', this.#options.place);
    if (!wanted) return answerRefusal(outgoing, store, 'not readable', 'The request cannot be read.');
    const refusal = this.#refusalOf(caller, wanted);
    if (refusal !== undefined) return answerRefusal(outgoing, store, 'access denied', refusal);

    const listing =
      store === 's3' && readsObject({ method, path: url.pathname }) ? listingOf(url.pathname) : undefined;
    const hidesMissing = listing && evaluate(caller.statements, listing) !== 'allowed';
    const upstream = request(this.#options.stores[store], {
      method,
      path: incoming.url,
      headers: { ...incoming.headers, host: this.#options.stores[store].host },
      agent: this.#agent,
    });
    upstream.on('response', (response) => {
      // A caller that may not list a bucket does not learn either that an object is missing.
      if (hidesMissing && response.statusCode === 404) {
        response.resume();
        return answerRefusal(
          outgoing,
          store,
          'access denied',
          this.#sentence(caller, listing, 'not allowed'),
        );
      }
      outgoing.writeHead(response.statusCode ?? 502, response.rawHeaders);
      // `pipeline` makes an abort signal, and an error to abort it with, for each reply.
      response.on('error', () => outgoing.destroy());
      response.pipe(outgoing);
    });
    upstream.on('error', () => outgoing.destroy());
    outgoing.on('close', () => upstream.destroy());
    if (body) upstream.end(body);
    else pipeline(incoming, upstream, () => {});
  }

  /** Why a caller may not do something; undefined when it may, and that is remembered. */
  #refusalOf(caller: Caller, wanted: readonly Access[]): string | undefined {
    const used = this.#used.get(caller.functionName) ?? new Map<string, Access>();
    this.#used.set(caller.functionName, used);
    for (const access of wanted) {
      // What was allowed once stays so, unless keys decide too.
      if (access.leadingKeys === undefined && used.has(nameOf(access))) continue;
      const verdict = evaluate(caller.statements, access);
      if (verdict !== 'allowed') return this.#sentence(caller, access, verdict);
    }
    for (const access of wanted) used.set(nameOf(access), access);
    return undefined;
  }

  /** Names the function, the action and the resource, in the words that people search the web for. */
  #sentence({ roleName, functionName }: Caller, { action, resource }: Access, verdict: Verdict): string {
    const user = `arn:aws:sts::${this.#options.place.accountId}:assumed-role/${roleName}/${functionName}`;
    const reason =
      verdict === 'denied'
        ? 'with an explicit deny in an identity-based policy'
        : `because no identity-based policy allows the ${action} action`;
    return `User: ${user} is not authorized to perform: ${action} on resource: ${resource} ${reason}`;
  }
}

const nameOf = ({ action, resource }: Access): string => `${action} ${resource}`;

/** What the calls of services that speak JSON have to be allowed. */
const accessByService = {
  dynamodb: dynamodbAccess,
  sqs: sqsAccess,
  kms: (operation: string, { KeyId }: Readonly<Record<string, unknown>>): Access[] => [
    { action: `kms:${operation}`, resource: String(KeyId) },
  ],
  secretsmanager: (operation: string, { SecretId }: Readonly<Record<string, unknown>>): Access[] => [
    { action: `secretsmanager:${operation}`, resource: String(SecretId) },
  ],
} as const;

const storeNames: readonly StoreName[] = [
  's3',
  'ses',
  ...(Object.keys(accessByService) as (keyof typeof accessByService)[]),
];

/** Reads who signed a request, and for which service, from its header or from a presigned address. */
function readCredential(
  authorization: string | undefined,
  query?: URLSearchParams,
): { readonly accessKeyId: string; readonly store: StoreName } | undefined {
  const scope = /Credential=([^,\s]+)/.exec(authorization ?? '')?.[1] ?? query?.get('X-Amz-Credential') ?? '';
  const [accessKeyId, , , service] = scope.split('/');
  const store = storeNames.find((name) => name === service);
  return accessKeyId && store ? { accessKeyId, store } : undefined;
}

/** What a call of SES has to be allowed. */
function sesAccess(
  path: string,
  { FromEmailAddress: from }: { readonly FromEmailAddress?: unknown },
  { region, accountId }: IamDoorOptions['place'],
): Access[] | undefined {
  const domain = /@([^@>]+)>?$/.exec(String(from))?.[1];
  if (path !== SEND_MAIL || domain === undefined) return undefined;
  return [{ action: 'ses:SendEmail', resource: `arn:aws:ses:${region}:${accountId}:identity/${domain}` }];
}

/** What the request wants to do, or undefined when that cannot be made out. */
function accessOf(
  store: StoreName,
  incoming: IncomingMessage,
  url: URL,
  body: string,
  place: IamDoorOptions['place'],
): Access[] | undefined {
  try {
    if (store === 's3') {
      const copySource = incoming.headers['x-amz-copy-source'];
      return s3Access({
        method: incoming.method ?? 'GET',
        path: url.pathname,
        query: url.searchParams,
        copySource: Array.isArray(copySource) ? copySource[0] : copySource,
        body,
      });
    }
    if (store === 'ses') return sesAccess(url.pathname, JSON.parse(body), place);
  } catch {
    return undefined;
  }
  return accessOfCall(store, String(incoming.headers['x-amz-target']), body, place);
}

/** What a call of a service that speaks JSON wants to do, or undefined when that cannot be made out. */
function accessOfCall(
  store: keyof typeof accessByService,
  target: string,
  body: string,
  place: IamDoorOptions['place'],
): Access[] | undefined {
  try {
    const wanted = accessByService[store](target.split('.').at(-1) ?? '', JSON.parse(body), place);
    return wanted.length > 0 ? wanted : undefined;
  } catch {
    return undefined;
  }
}

/** The permission without which S3 does not reveal that an object is missing. */
const listingOf = (path: string): Access => ({
  action: 's3:ListBucket',
  resource: `arn:aws:s3:::${decodeURIComponent(path.split('/')[1] ?? '')}`,
});

async function read(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largestBody) throw new Error('The request is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
