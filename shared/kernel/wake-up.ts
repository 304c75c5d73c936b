import { traceOf } from './errors.ts';
import type { Outside, Queues } from './outside.ts';

/** Longest (ms) that a reply waits for a queue. */
const SEND_TIMEOUT_MS = 1_000;

/**
 * Waits until a message that wakes a worker is sent, but not for long. A failure is only reported, with this line: what the
 * worker has to do is stored, and a sweep or the next message wakes it for that.
 */
export async function wakeWorker(
  { report, wait }: Pick<Outside, 'report' | 'wait'>,
  sending: Promise<void>,
  line: { readonly worker: string; readonly message: string } & Readonly<Record<string, unknown>>,
): Promise<void> {
  const sent = sending.catch((error: unknown) => report({ level: 'WARN', ...line, error: traceOf(error) }));
  await Promise.race([sent, wait(SEND_TIMEOUT_MS)]);
}

/** The queue of the push worker. */
export const PUSH = 'push';

/** A message of the queue `push`: where to look for work. */
export interface PushWakeUp {
  readonly realm: string;
  /** Do only this job: a request waits for it. */
  readonly job?: string | undefined;
  /** Only check whether this user still has a device. */
  readonly left?: number | undefined;
}

export const sendPushWakeUp = (queues: Queues, wakeUp: PushWakeUp, delaySeconds?: number): Promise<void> =>
  queues.send(PUSH, wakeUp, delaySeconds);

/** Wakes the push worker for work that is stored already: if this fails, the work is only delayed. */
export async function tryWakePush(
  outside: Pick<Outside, 'report' | 'wait'>,
  queues: Queues,
  wakeUp: PushWakeUp,
): Promise<void> {
  await wakeWorker(outside, sendPushWakeUp(queues, wakeUp), {
    worker: 'push',
    message: 'the push worker was not woken',
  });
}

/** Wakes the push worker after a commit that may add or remove notifications. Does nothing if nobody has a device. */
export async function wakePush({
  caller,
  outside,
  clients,
}: {
  readonly caller: { readonly realmId: string; readonly realm: { readonly hasPushDevices?: boolean } };
  readonly outside: Outside;
  readonly clients: { readonly queues: Queues };
}): Promise<void> {
  if (!caller.realm.hasPushDevices) return;
  await tryWakePush(outside, clients.queues, { realm: caller.realmId });
}

/** The queue of the search worker. It writes exports too: each queue costs money while nobody talks (docs/COST.md). */
export const SEARCH_QUEUE = 'export';

/** A message of the queue of the search worker: index what the log has of this organization. */
export interface SearchWakeUp {
  readonly realm: string;
  /** A search met a segment that is lost or damaged: check them all. */
  readonly verify?: boolean | undefined;
}

/** Numbers of the log from one wake-up to the next. */
const INDEXED_NUMBERS = 256;

/** Seconds until the worker looks, by when the commit that woke it is done. */
const INDEX_DELAY = 5;

/** Wakes the search worker. If that fails, the hourly sweep or the next one does it. */
export async function wakeSearch(
  outside: Pick<Outside, 'report' | 'wait'>,
  queues: Queues,
  wakeUp: SearchWakeUp,
): Promise<void> {
  await wakeWorker(outside, queues.send(SEARCH_QUEUE, wakeUp, INDEX_DELAY), {
    worker: 'export',
    message: 'worker not woken for the search index',
  });
}

/** Wakes the search worker if a commit with these numbers of the log is the one that does it. */
export const wakeSearchAt = async (
  outside: Pick<Outside, 'report' | 'wait'>,
  queues: Queues,
  realm: string,
  numbers: readonly number[],
): Promise<void> => {
  if (numbers.some((number) => number % INDEXED_NUMBERS === 0)) await wakeSearch(outside, queues, { realm });
};
