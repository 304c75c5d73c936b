/** Why there is no usable answer of another service. */
type Reason = 'not configured' | 'no answer in time' | 'not reachable' | 'it redirected' | 'too much';

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
  /** The addresses that the operator configured; nothing else is ever asked, whatever an answer says. */
  readonly addresses: readonly (string | undefined)[];
  /** Milliseconds for everything: connecting, the answer, and all of its body. */
  readonly timeout: number;
  /** Bytes of an answer that are taken. */
  readonly largest?: number;
}

/** Bytes that an answer of a service like these never needs. */
const LARGEST = 256 * 1024;

/**
 * Asks other people's services (DESIGN 8): only at the origins that the operator configured, within a time, following
 * no redirects, and taking no more than a fair answer. What comes back is a whole response, its body in memory.
 *
 * @throws Unreachable for everything that keeps a usable answer from arriving. An error status is an answer.
 */
export function outgoing({ addresses, timeout, largest = LARGEST }: OutgoingOptions): typeof fetch {
  const origins = new Set(addresses.flatMap((address) => (address ? [new URL(address).origin] : [])));
  return async (input, init) => {
    const request = new Request(input, { ...init, redirect: 'manual' });
    if (!origins.has(new URL(request.url).origin)) throw new Unreachable('not configured');
    const late = AbortSignal.timeout(timeout);
    try {
      const answer = await fetch(request, { signal: late });
      const body = await whole(answer, largest);
      if (answer.status >= 300 && answer.status < 400) throw new Unreachable('it redirected');
      const bodyless = body.length === 0 && [204, 205].includes(answer.status);
      return new Response(bodyless ? null : body, { status: answer.status, headers: answer.headers });
    } catch (error) {
      if (error instanceof Unreachable) throw error;
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
