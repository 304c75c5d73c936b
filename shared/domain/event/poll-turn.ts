import { isPassing } from '../../table/outcome.ts';
import type { Table } from '../../table/table.ts';
import { loadQueue } from './event-queue.ts';

/**
 * How often (ms) a waiting poll sees to its turn. So a newer poll of the same queue ends an older one within twice this
 * time: within the first the newer one says that it waits, and within the second the older one reads it. Short enough
 * that nobody holds many functions with one queue, long enough that it costs next to nothing beside the looks for news,
 * and no write at all where polls are answered sooner.
 */
export const TURN = 5_000;

/** A poll that may wait for its queue, under a name that no other poll has. */
export interface WaitingPoll {
  readonly table: Table;
  readonly realm: string;
  readonly userId: number;
  readonly queueId: string;
  readonly pollId: string;
  /** Stores in the queue that this poll waits for it, in place of any other. Returns whether that is known to be done. */
  readonly claim: () => Promise<boolean>;
}

/**
 * At most one poll of a queue waits, so that a client that comes again holds one function and not two (companion facts
 * 6.1: a second poll ends the first). Which of them came last is told by the order of their writes; no clock is compared.
 *
 * Returns a function to be asked at every look, with the time (ms): whether the poll may go on waiting. It may not when
 * another one waits instead, or when the queue is gone. What the store cannot tell now is asked again later.
 */
export function turnOf(
  { table, realm, userId, queueId, pollId, claim }: WaitingPoll,
  started: number,
): (now: number) => Promise<boolean> {
  let next = started + TURN;
  let isClaimed = false;
  return async (now) => {
    if (now < next) return true;
    next = now + TURN;
    try {
      if (isClaimed) return (await loadQueue(table, realm, userId, queueId))?.waiting === pollId;
      isClaimed = await claim();
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    return true;
  };
}
