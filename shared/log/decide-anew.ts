import { Stale } from './commit.ts';
import type { Log } from './log.ts';

/** How often something is decided, at most, while others change its ground. */
const TRIES = 16;

/** After this long (ms) nothing is decided anew, so that a commit ends before its function does. */
const LONGEST = 5_000;

/** How often at least, however long it took: the first try may have done what was left of something else. */
const FEWEST = 4;

/** Between two tries pass this many ms at most. */
const SLOWEST = 500;

/**
 * Reads, decides and commits, and does it all again as long as somebody else changes in between what was read. Waits in
 * between for some milliseconds that double, at random, so that those who met do not meet again. Throws what `decide`
 * throws, and `Stale` where there were too many others.
 */
export async function decideAnew<T>(
  { wait, now }: Pick<Log, 'wait' | 'now'>,
  decide: () => Promise<T>,
): Promise<T> {
  const ends = now() + LONGEST;
  for (let attempt = 1; ; attempt++) {
    try {
      return await decide();
    } catch (error) {
      const isOver = attempt === TRIES || (attempt >= FEWEST && now() > ends);
      if (!(error instanceof Stale) || isOver) throw error;
      await wait(Math.random() * Math.min(10 * 2 ** attempt, SLOWEST));
    }
  }
}
