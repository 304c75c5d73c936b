import type { BucketAction, Endpoint, Needs } from './endpoint.ts';
import { deleteQueue, getEvents } from './events.ts';

/**
 * The declaration of an HTTP server that holds the requests of some endpoints, many of them at once: a Lambda Web
 * Function. Each request runs the handler of its endpoint.
 */
export interface Listener {
  /** `area.verb`: the server is `functions/area/verb.ts`, and the Web Function is named after it. */
  readonly id: string;
  /** For operators: what it does, and the effect while it fails. */
  readonly description: string;
  /** The endpoints that it serves. All have the same path. */
  readonly endpoints: readonly Endpoint[];
  /** What its endpoints need, together. */
  readonly needs: Needs;
  /** Memory of an environment in MB. */
  readonly memory: number;
  /** Requests that one environment handles at once. */
  readonly concurrency: number;
  /** Seconds for which a poll is held if there is no news. */
  readonly holdSeconds: number;
  /** Seconds that a request may take. */
  readonly timeout: number;
}

/** Everything that any of the endpoints may access. */
export function joinedNeeds(endpoints: readonly Pick<Endpoint, 'needs'>[]): Needs {
  const all = endpoints.map(({ needs }) => needs);
  const each = <T>(of: (needs: Needs) => readonly T[] | undefined): T[] => [
    ...new Set(all.flatMap((needs) => of(needs) ?? [])),
  ];
  const buckets = each(({ buckets = {} }) => Object.keys(buckets)).map((name): [string, BucketAction[]] => [
    name,
    each((needs) => needs.buckets?.[name]),
  ]);
  const [queues, secrets, key, settings] = [
    each(({ queues }) => queues),
    each(({ secrets }) => secrets),
    each(({ key }) => key),
    each(({ settings }) => settings),
  ];
  return {
    table: each(({ table }) => table),
    ...(queues.length > 0 && { queues }),
    ...(buckets.length > 0 && { buckets: Object.fromEntries(buckets) }),
    ...(secrets.length > 0 && { secrets }),
    ...(key.length > 0 && { key }),
    ...(settings.length > 0 && { settings }),
    ...(all.some(({ countsRequests }) => countsRequests) && { countsRequests: true }),
  };
}

const served = [getEvents, deleteQueue];

/**
 * Holds the polls of clients, so that a client that waits occupies no function. Zulip's clients give up after 90 s
 * (`event_queue_longpoll_timeout_seconds`), and CloudFront waits 60 s for its origin at most.
 */
export const eventListener: Listener = {
  id: 'events.listen',
  description: 'Holds the requests of clients that wait for events; while it fails, clients hear nothing.',
  endpoints: served,
  needs: joinedNeeds(served),
  memory: 512,
  concurrency: 128,
  holdSeconds: 55,
  timeout: 60,
};

/** How a server behind CloudFront knows that a request came through it: a secret in a header, and the variable with it. */
export const proof = { header: 'x-parlance-proof', variable: 'ORIGIN_PROOF' } as const;

/** The listeners that a service of these endpoints has: those whose endpoints are all among them. */
export const listenersFor = (endpoints: readonly Pick<Endpoint, 'id'>[]): readonly Listener[] =>
  [eventListener].filter((listener) =>
    listener.endpoints.every(({ id }) => endpoints.some((endpoint) => endpoint.id === id)),
  );
