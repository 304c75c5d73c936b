import { ConflictError } from './commit.ts';
import type { Log } from './log.ts';

/** Most tries. */
const MAX_TRIES = 16;

/** No further try begins after this long (ms), so that a commit ends before its function does. */
const TIMEOUT_MS = 5_000;

/** Tries that are made even when the time is up: the first may have finished the work of another request. */
const MIN_TRIES = 4;

/** Longest pause (ms) between two tries. */
const MAX_PAUSE_MS = 500;

/**
 * Calls `attempt`, which reads, decides and commits, until its commit meets no conflict.
 *
 * `attempt` must read again each time, since the same decision would meet the same conflict. Handlers are inside such a
 * loop already (`serve`), so they just throw. A lost reply is not a conflict: `carryOut` and `commit` send the same
 * transaction again.
 *
 * @param attempt gets the number of the try, from 1
 * @param maxTries fewer than usual, where there is another way after some tries
 * @throws what `attempt` throws; `ConflictError` when the tries or the time are used up
 */
export async function retryOnConflict<T>(
  { wait, now }: Pick<Log, 'wait' | 'now'>,
  attempt: (number: number) => Promise<T>,
  maxTries = MAX_TRIES,
): Promise<T> {
  const ends = now() + TIMEOUT_MS;
  for (let number = 1; ; number++) {
    try {
      return await attempt(number);
    } catch (error) {
      const isOver = number >= maxTries || (number >= MIN_TRIES && now() > ends);
      if (!(error instanceof ConflictError) || isOver) throw error;
      // Random pauses that double, so that the same two do not collide again.
      await wait(Math.random() * Math.min(10 * 2 ** number, MAX_PAUSE_MS));
    }
  }
}
