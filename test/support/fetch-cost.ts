import { expect } from 'vitest';
import { designBudgets } from './design-budgets.ts';
import { fetched } from './messages.ts';
import type { Person, TestRealm } from './realm.ts';
import { avoidMidnight } from './same-day.ts';

type Query = Readonly<Record<string, unknown>>;

/**
 * What a fetch costs in a container that does not know the caller, and in one that does. Somebody who never fetched
 * before does so first: where their messages are is remembered from then on.
 */
export async function cost(realm: TestRealm, as: Person, query: Query) {
  avoidMidnight(realm);
  expect((await fetched(realm, as, query)).status).toBe(200);
  // What was written by now was written a while ago, and the indexes show it.
  realm.pass(60_000);
  const container = realm.container();
  const first = await fetched(container, as, query);
  expect(first.status).toBe(200);
  const cold = container.meter.roundTrips;
  container.meter.reset();
  const second = await fetched(container, as, query);
  expect(second.body).toEqual(first.body);
  const { roundTrips: warm, calls, readUnits, writeUnits } = container.meter;
  expect(writeUnits).toBe(0);
  return { cold, warm, calls: calls.length, readUnits, found: second.body.messages.length as number };
}

export async function tripsOf(
  realm: TestRealm,
  as: Person,
  query: Query,
): Promise<readonly [number, number]> {
  const { cold, warm } = await cost(realm, as, query);
  return [cold, warm];
}

/** Sequential round trips of a read endpoint (DESIGN 7): cold, and warm. */
export const BUDGET = [designBudgets.readColdTrips, designBudgets.readTrips] as const;
