import { expect, it } from 'vitest';
import { isRead } from '../bench/budgets.ts';
import { COSTED } from '../bench/call-cost.ts';
import { type Count, type CountRow, measureCounts } from '../bench/counts.ts';
import { operations } from '../bench/operations.ts';
import { readRecorded } from '../bench/recorded.ts';
import { designBudgets } from '../support/design-budgets.ts';
import { exceptions, roundTrips, waiting } from './round-trips.ts';

const counted = await measureCounts(operations.filter(({ name }) => !Object.hasOwn(waiting, name)));

/** Cold and warm budgets of an operation (DESIGN 7). */
function budgetOf(row: CountRow): readonly [cold: number, warm: number] {
  const { sendColdTrips, sendWarmTrips, readColdTrips, readTrips, writeTrips } = designBudgets;
  if (row.endpoint === 'messages.send') return [sendColdTrips, sendWarmTrips];
  return isRead(row) ? [readColdTrips, readTrips] : [writeTrips, writeTrips];
}

const tripsOf = ({ cold, warm }: CountRow) => [cold.roundTrips, warm.roundTrips] as const;

it('each operation takes the round trips of the table', () => {
  expect(Object.fromEntries(counted.map((row) => [row.operation, tripsOf(row)]))).toEqual(roundTrips);
});

it('only the known exceptions take more round trips than DESIGN 7 allows', () => {
  const over = counted.filter((row) => {
    const [cold, warm] = budgetOf(row);
    return row.cold.roundTrips > cold || row.warm.roundTrips > warm;
  });
  expect(over.map(({ operation }) => operation)).toEqual(Object.keys(exceptions));
});

/** What is compared with the record: not the bytes of a reply, in which there are ids and times. */
const units = ({ requests, readUnits, writeUnits, others }: Count) => ({
  requests,
  readUnits,
  writeUnits,
  others,
});

it('the recorded figures of docs/COST.md equal the units and requests that are counted now', async () => {
  const recorded = await readRecorded();
  const now = new Map(counted.map((row) => [row.operation, row]));
  for (const { operation, cold, warm } of recorded.counts) {
    const row = now.get(operation);
    if (!row) continue;
    expect(
      [row.cold, row.warm].map((count) => count.roundTrips),
      operation,
    ).toEqual([cold, warm].map((count) => count.roundTrips));
    expect([row.cold, row.warm].map(units), operation).toEqual([cold, warm].map(units));
  }
});

it('a waiting poll costs what is recorded', async () => {
  const hold = operations.filter(({ name }) => name === COSTED.hold);
  const [row] = await measureCounts(hold);
  const then = (await readRecorded()).counts.find(({ operation }) => operation === COSTED.hold);
  expect(row && [row.cold, row.warm].map(units)).toEqual(then && [then.cold, then.warm].map(units));
});
