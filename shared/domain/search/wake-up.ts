import type { Outside, Queues } from '../../kernel/outside.ts';
import { wakeWorker } from '../../kernel/wake-up.ts';

/** The queue of the worker. It writes exports too: each queue costs money while nobody talks (docs/COST.md). */
export const SEARCH_QUEUE = 'export';

/** A message of the queue: index what the log has of this organization. */
export interface SearchWakeUp {
  readonly realm: string;
  /** A search met a segment that is lost or damaged: check them all. */
  readonly verify?: boolean | undefined;
}

/** Numbers of the log from one wake-up to the next. */
const INTERVAL = 256;

/** Seconds until the worker looks, by when the commit that woke it is done. */
const DELAY = 5;

/** Wakes the worker. If that fails, the hourly sweep or the next one does it. */
export async function wakeSearch(
  outside: Pick<Outside, 'report' | 'wait'>,
  queues: Queues,
  wakeUp: SearchWakeUp,
): Promise<void> {
  await wakeWorker(outside, queues.send(SEARCH_QUEUE, wakeUp, DELAY), {
    worker: 'export',
    message: 'worker not woken for the search index',
  });
}

/** Wakes the worker if a commit with these numbers of the log is the one that does it. */
export const wakeSearchAt = async (
  outside: Pick<Outside, 'report' | 'wait'>,
  queues: Queues,
  realm: string,
  numbers: readonly number[],
): Promise<void> => {
  if (numbers.some((number) => number % INTERVAL === 0)) await wakeSearch(outside, queues, { realm });
};
