import { Stale } from './commit.ts';
import type { Log } from './log.ts';

/** How often something is decided anew when somebody else changed its ground, before that is a fault. */
const TRIES = 8;

/**
 * Reads, decides and commits, and does it all again as long as somebody else changes in between what was read. Waits in
 * between for some milliseconds that double, at random, so that those who met do not meet again. Throws what `decide`
 * throws, `Stale` after the last try.
 */
export async function decideAnew<T>({ wait }: Pick<Log, 'wait'>, decide: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await decide();
    } catch (error) {
      if (!(error instanceof Stale) || attempt === TRIES) throw error;
      await wait(Math.random() * 10 * 2 ** attempt);
    }
  }
}
