import { expect, it } from 'vitest';
import { HELD } from './activity.ts';
import { COSTED, pollRequestCost, requestCost, warmOf } from './call-cost.ts';
import { monthCost, personCost } from './cost.ts';
import { verdictOf, waitingBudgets, ways } from './cost-decision.ts';
import { idleCost, idleSettings } from './idle.ts';
import { operations } from './operations.ts';
import { pagesOf, readPage, readRecorded } from './recorded.ts';
import { inFunctions, inServer, polling, turns } from './waiting.ts';

const recorded = await readRecorded();

it('the pages are up to date with the recorded figures (`npm run bench -- --only counts,growth --write`)', async () => {
  for (const [name, page] of Object.entries(pagesOf(recorded))) expect(await readPage(name), name).toBe(page);
});

it('every operation is recorded', () => {
  expect(recorded.counts.map(({ operation }) => operation)).toEqual(operations.map(({ name }) => name));
});

it('an idle service costs nearly nothing, and the page lists what it does cost', () => {
  const total = (context: Readonly<Record<string, string>>, which: 'dollars' | 'charged') =>
    idleCost(context).reduce((sum, line) => sum + line[which], 0);
  const dashboard = 3;
  expect(total(idleSettings.nothing, 'dollars')).toBeLessThan(1.6 + dashboard);
  expect(total(idleSettings.nothing, 'charged')).toBeLessThan(0.25);
  // What is set needs its secrets, the key, and queues of its own.
  const more = total(idleSettings.everything, 'dollars') - total(idleSettings.nothing, 'dollars');
  expect(more).toBeGreaterThan(3 * 0.4 + 1);
  expect(more).toBeLessThan(3.5);
});

it('the model of polls lets a poll end with the first event or after its full time', () => {
  const idle = polling(0.000_001, HELD);
  expect(idle.mean).toBeCloseTo(24, 0);
  expect(polling(5_000, HELD).mean).toBeLessThan(idle.mean);
  // However often a client asks, it is there all the time.
  for (const people of [1, 50, 5_000]) {
    const { polls, mean } = polling(people, HELD);
    expect(polls * mean).toBeCloseTo(3_600, 6);
  }
});

it('the model assumes the real length of a poll, with a probe every 150 ms', () => {
  const looks = warmOf(recorded, COSTED.hold).roundTrips - turns - 1;
  expect(0.15 * looks).toBeCloseTo(HELD, 0);
});

it('the sums are right', () => {
  const lines = personCost(recorded, 50);
  const sum = lines.reduce((total, { dollars }) => total + dollars, 0);
  expect(monthCost(recorded, 50)).toBeCloseTo(50 * sum, 9);
  // 168 hours in a function of half a gigabyte.
  expect(personCost(recorded, 50, inFunctions(512))[0]?.dollars).toBeCloseTo(
    168 * 3_600 * 0.5 * 0.0000133334,
    9,
  );
  expect(requestCost('requests')).toBeCloseTo((1 + 0.1 + 3.5 + 0.2 + 0.25 + 0.1) / 1e6, 12);
  expect(pollRequestCost()).toBeCloseTo((1 + 0.1 + 0.2) / 1e6, 12);
  expect(requestCost('polls')).toBeCloseTo((1 + 0.1 + 3.5 + 0.2 + 0.25 + 0.0025) / 1e6, 12);
});

it('the model shares an environment of the server among the clients that wait in it, up to its memory', () => {
  const memoryOf = (people: number): number =>
    people * (personCost(recorded, people, inServer())[0]?.dollars ?? 0);
  // 168 hours of an environment with 64 clients, and of two with 64 each.
  expect(memoryOf(64)).toBeCloseTo(168 * 3_600 * ((128 + 6.4) / 1_024) * 0.0000133334, 9);
  expect(memoryOf(128)).toBeCloseTo(2 * memoryOf(64), 9);
  expect(memoryOf(65)).toBeGreaterThan(1.9 * memoryOf(64));
});

it.each(['server', 'dearServer'] as const)('waiting in a %s is within its budgets', (way) => {
  const { clientHour, person, fiveThousand, breakEven } = verdictOf(recorded, ways[way]);
  expect(clientHour).toBeLessThanOrEqual(waitingBudgets.clientHour);
  expect(person).toBeLessThanOrEqual(waitingBudgets.person);
  expect(fiveThousand).toBeLessThanOrEqual(waitingBudgets.fiveThousand);
  expect(breakEven).toBeGreaterThanOrEqual(waitingBudgets.breakEven);
});
