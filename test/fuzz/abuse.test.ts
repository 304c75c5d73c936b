import { describe, expect, test } from 'vitest';
import { audit } from '../support/audit/audit.ts';
import { abuse, targets } from './abuse.ts';

/** How many calls a run of all tests makes; `npm run fuzz -- --calls 20000` makes more. */
const CALLS = Number(process.env.FUZZ_CALLS ?? 400);
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Milliseconds for a call, on a busy machine and with all that there is by then. A slower engine gets more. */
const PATIENCE = Number(process.env.FUZZ_PATIENCE ?? 80);
/** So many calls are enough for each endpoint to be let through to what it does. */
const ENOUGH = 20_000;

type Answers = ReadonlyMap<string, number>;

/** How often an endpoint answered with a status from one number to another. */
const countOf = (answers: Answers, id: string, from: number, to = from): number =>
  [...answers].reduce((sum, [what, count]) => {
    const [one, status] = what.split(' ');
    return sum + (one === id && Number(status) >= from && Number(status) <= to ? count : 0);
  }, 0);

/** The outcomes as a table: one line for each endpoint. */
function tableOf(answers: Answers): string {
  const columns = {
    done: [200, 399],
    refused: [400, 400],
    unauthorized: [401, 401],
    'not found': [404, 404],
  };
  const others = 'others';
  const lines = targets.map(({ id }) => {
    const counts = Object.values(columns).map(([from = 0, to]) => countOf(answers, id, from, to));
    const rest = countOf(answers, id, 0, 999) - counts.reduce((sum, count) => sum + count, 0);
    return [id, ...counts, rest];
  });
  return [['endpoint', ...Object.keys(columns), others], ...lines]
    .map(
      ([id, ...cells]) =>
        `${String(id).padEnd(32)}${cells.map((cell) => String(cell).padStart(14)).join('')}`,
    )
    .join('\n');
}

describe('requests that no client sends, to every endpoint', () => {
  test(
    `cause no fault and reveal nothing: ${CALLS} of them, with the seed ${SEED}`,
    async () => {
      console.log(`fuzz: ${CALLS} calls with the seed ${SEED}`);
      const { calls, answers, faults, world } = await abuse(SEED, CALLS);
      if (process.env.FUZZ_CALLS) console.log(tableOf(answers));
      expect(calls).toBeGreaterThanOrEqual(CALLS);
      expect(faults).toEqual([]);
      for (const { realm } of world.sides) expect(await audit(realm)).toEqual([]);
      const never = targets.filter(({ id }) => countOf(answers, id, 200, 399) === 0).map(({ id }) => id);
      if (CALLS >= ENOUGH) expect(never, 'endpoints that never did what they are for').toEqual([]);
    },
    20_000 + CALLS * PATIENCE,
  );
});
