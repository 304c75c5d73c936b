import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Outside } from '../../shared/kernel/outside.ts';

/**
 * A clock that stands still but for who waits for it or moves it on, so that counts do not depend on the hour; and ids
 * whose ends count up. The end of a queue's id chooses where queues of an organization are listed, and two that choose
 * the same place take longer: of random ids, one in 64.
 */
export interface BenchClock extends Pick<Outside, 'now' | 'wait' | 'uuid'> {
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
  let ids = 0;
  return {
    uuid: () => randomUUID().slice(0, -2) + (ids++ % 256).toString(16).padStart(2, '0'),
    now: () => at,
    pass,
    wait: async (ms) => {
      pass(ms);
      await sleep(Math.min(ms, TURN));
    },
  };
}
