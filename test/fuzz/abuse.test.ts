import { describe, expect, test } from 'vitest';
import { audit } from '../audit/audit.ts';
import { abuse } from './abuse.ts';

/** How many calls a run of all tests makes; `npm run fuzz -- --calls 20000` makes more. */
const CALLS = Number(process.env.FUZZ_CALLS ?? 400);
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Milliseconds for a call, on a busy machine and with all that there is by then. */
const PATIENCE = 80;

describe('requests that no client means, to every endpoint', () => {
  test(
    `break nothing and reveal nothing: ${CALLS} of them, with the seed ${SEED}`,
    async () => {
      console.log(`fuzz: ${CALLS} calls with the seed ${SEED}`);
      const { calls, answers, faults, world } = await abuse(SEED, CALLS);
      if (process.env.FUZZ_CALLS)
        console.log(
          [...answers]
            .sort()
            .map((line) => line.join(': '))
            .join('\n'),
        );
      expect(calls).toBeGreaterThanOrEqual(CALLS);
      expect(faults).toEqual([]);
      for (const { realm } of world.sides) expect(await audit(realm)).toEqual([]);
    },
    20_000 + CALLS * PATIENCE,
  );
});
