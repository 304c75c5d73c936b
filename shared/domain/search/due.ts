import type { Counter } from '../../log/log.ts';
import type { SearchPointer } from './pointer.ts';

/** With so many new messages the index goes on: a run costs two write units, and two more to remove what it replaced. */
const MIN_MESSAGES = 200;

/** With so many changes in the log it goes on too, since a search reads all that are not indexed. */
const MIN_NUMBERS = 2_000;

/** It goes on at the latest after this time (ms): the log keeps changes for some days more. */
const MAX_AGE = 6 * 24 * 3600 * 1000;

/** How long (ms) readers may still be loading an object that was replaced. */
export const REPLACED_KEPT = 10 * 60 * 1000;

/** Replaced objects are removed at the latest after this time (ms), even if nothing is to be indexed. */
const MAX_REPLACED = 24 * 3600 * 1000;

/** Whether there is enough to do for a run of the worker. */
export function isDue(
  pointer: SearchPointer | undefined,
  counter: Counter | undefined,
  now: number,
): boolean {
  const { until = 0, at = now, messages = 0, purge = now, isVoid = false } = pointer ?? {};
  const numbers = (counter?.seq ?? 0) - until;
  return (
    isVoid ||
    (counter?.messages ?? 0) - messages >= MIN_MESSAGES ||
    numbers >= MIN_NUMBERS ||
    (numbers > 0 && now - at > MAX_AGE) ||
    now - purge > MAX_REPLACED
  );
}
