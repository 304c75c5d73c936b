import { setTimeout as sleep } from 'node:timers/promises';
import type { Outside } from '../../shared/kernel/outside.ts';

/** A clock that stands still but for who waits for it or moves it on, so that counts do not depend on the hour. */
export interface BenchClock extends Pick<Outside, 'now' | 'wait'> {
  readonly pass: (ms: number) => void;
}

/** Presences stand in slots of five minutes: each organization begins half a minute into one. */
const SLOT = 300_000;

/** The longest (ms) that somebody really waits, so that whatever runs beside gets its turn. */
const TURN = 2;

/** A clock for a new organization, a little ahead of the one by which it was made (`now`, in milliseconds). */
export function benchClock(now: number): BenchClock {
  let at = Math.ceil(now / SLOT) * SLOT + SLOT / 10;
  const pass = (ms: number): void => {
    at += ms;
  };
  return {
    now: () => at,
    pass,
    wait: async (ms) => {
      pass(ms);
      await sleep(Math.min(ms, TURN));
    },
  };
}
