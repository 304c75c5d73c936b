import { fetchPublic, NotPublic } from './public-address.ts';

/** Why there is no usable answer of another service. */
type Reason =
  | 'not configured'
  | 'not public'
  | 'no answer in time'
  | 'not reachable'
  | 'it redirected'
  | 'too much';

/** Another service did not answer in a usable way. Says no more, as addresses may hold what is secret. */
export class Unreachable extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, options?: ErrorOptions) {
    super(`The other service could not be asked: ${reason}.`, options);
    this.name = 'Unreachable';
    this.reason = reason;
  }
}

export interface OutgoingOptions {
  /** The addresses that the operator configured. Without `mayAskPublic`, nothing else is ever asked. */
  readonly addresses: readonly (string | undefined)[];
  /** Also asks other hosts, over TLS and only at public addresses: those that a configured service refers to. */
  readonly mayAskPublic?: boolean;
  /** Milliseconds for everything: connecting, the answer, and all of its body. */
  readonly timeout: number;
  /** Bytes of an answer that are taken. */
  readonly largest?: number;
}

/** Bytes that an answer of a service like these never needs. */
const LARGEST = 256 * 1024;

/**
 * Asks other people's services (DESIGN 8): within a time, following no redirects, and taking no more than a fair answer.
 * Only the origins that the operator configured may have an address that is not public. What comes back is a whole
 * response, its body in memory.
 *
 * @throws Unreachable for everything that keeps a usable answer from arriving. An error status is an answer.
 */
export function outgoing({
  addresses,
  mayAskPublic = false,
  timeout,
  largest = LARGEST,
}: OutgoingOptions): typeof fetch {
  const origins = new Set(addresses.flatMap((address) => (address ? [new URL(address).origin] : [])));
  return async (input, init) => {
    const late = AbortSignal.timeout(timeout);
    const request = new Request(input, { ...init, redirect: 'manual', signal: late });
    const isConfigured = origins.has(new URL(request.url).origin);
    if (!isConfigured && !mayAskPublic) throw new Unreachable('not configured');
    try {
      const answer = await (isConfigured ? fetch(request) : fetchPublic(request));
      const body = await whole(answer, largest);
      if (answer.status >= 300 && answer.status < 400) throw new Unreachable('it redirected');
      const bodyless = body.length === 0 && [204, 205].includes(answer.status);
      return new Response(bodyless ? null : body, { status: answer.status, headers: answer.headers });
    } catch (error) {
      if (error instanceof Unreachable) throw error;
      if (error instanceof NotPublic) throw new Unreachable('not public');
      throw new Unreachable(late.aborted ? 'no answer in time' : 'not reachable', { cause: error });
    }
  };
}

/** All of a body, unless it is too large; then the rest is not even waited for. */
async function whole(answer: Response, largest: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > largest) throw new Unreachable('too much');
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
