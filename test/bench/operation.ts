import type { DemoName } from '../../infra/local/demo.ts';

/** A request to an endpoint, whether it goes through a handler or over HTTP. */
export interface Request {
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly files?: readonly Uint8Array[];
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Calls an endpoint as one of the demo accounts (or nobody), which must work. Returns the JSON of the reply; of a
 * redirection `{ location, cookie }`; of another reply that is no envelope nothing.
 */
export type Call = (
  endpoint: string,
  as: DemoName | undefined,
  parameters?: Readonly<Record<string, unknown>>,
  options?: Omit<Request, 'parameters'>,
  // biome-ignore lint/suspicious/noExplicitAny: later requests look into earlier replies
) => Promise<any>;

/**
 * Something that a client asks for, as data that runs against the handlers and against a server alike, in an
 * organization with the demo accounts.
 */
export interface Operation {
  /** The id of the endpoint, with a suffix after `:` for a variant. */
  readonly name: string;
  readonly endpoint: string;
  readonly as: DemoName | undefined;
  /** How it is run, from a preparation of its own; `n` is another one at each preparation in an organization. */
  readonly prepared: (call: Call, n: number) => Promise<(n: number) => Request>;
  /**
   * Whether one preparation is good for many calls, also at once, each with another `n`. Otherwise each call needs a
   * preparation of its own.
   */
  readonly repeatable: boolean;
  /** Whose part it takes besides the function's: that of a provider of calls, of the push relay, or of a worker. */
  readonly beyond?: 'provider' | 'relay' | 'worker';
  /** Seconds after which a client asks again, where sooner is another thing. */
  readonly pace?: number;
  /** It lasts as long as a poll is held when nothing happens. */
  readonly held?: true;
}

type Given<C> = Omit<Operation, 'endpoint' | 'prepared'> & {
  readonly prepare: (call: Call, n: number) => Promise<C>;
  readonly request: (ready: C, n: number) => Request;
};

/** An operation that needs something first. */
export const operation = <C>({ prepare, request, ...given }: Given<C>): Operation => ({
  ...given,
  endpoint: endpointOf(given.name),
  prepared: async (call, n) => {
    const ready = await prepare(call, n);
    return (each) => request(ready, each);
  },
});

/** An operation that can be done again and again, without anything before. */
export const plain = (
  name: string,
  as: DemoName | undefined,
  request: (n: number) => Request = () => ({}),
): Operation => ({
  name,
  endpoint: endpointOf(name),
  as,
  repeatable: true,
  prepared: async () => request,
});

const endpointOf = (name: string): string => name.split(':', 1)[0] ?? name;

/** The user id of one of the demo accounts. */
export const idOf = async (call: Call, who: DemoName): Promise<number> =>
  (await call('users.getOwn', who)).user_id;

/** The id of a channel. */
export const channelIdOf = async (call: Call, stream: string): Promise<number> =>
  (await call('channels.getId', 'owner', {}, { query: { stream } })).stream_id;

/** So many messages in a topic, one after the other; their ids. */
export async function talked(
  call: Call,
  as: DemoName,
  topic: string,
  count: number,
  content = 'The quick brown fox jumps over the lazy dog',
): Promise<readonly number[]> {
  const ids: number[] = [];
  for (let i = 0; i < count; i++) {
    const message = { type: 'channel', to: 'general', topic, content: `${content} ${i}` };
    ids.push((await call('messages.send', as, message)).id);
  }
  return ids;
}
