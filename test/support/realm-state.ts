import { expect } from 'vitest';
import { handler as update } from '../../functions/realm/update.ts';
import type { Realm } from '../../shared/model/realm/realm.ts';
import type { Event } from './event-queue.ts';
import { entriesIn } from './log-entries.ts';
import type { Person, Reply, TestRealm } from './realm.ts';

/*
 * What tests of the settings of an organization do again and again.
 */

type Given = Readonly<Record<string, unknown>>;

/** Asks for changes of the settings. */
export const change = (realm: TestRealm, as: Person, given: Given): Promise<Reply> =>
  realm.call(update, as, given);

/** The same, which must work. */
export async function changed(realm: TestRealm, as: Person, given: Given): Promise<void> {
  const { status, body } = await change(realm, as, given);
  expect({ status, body }).toEqual({ status: 200, body: { result: 'success', msg: '' } });
}

/** The organization as it is stored. */
export async function storedRealm({ realm, outside }: TestRealm): Promise<Realm> {
  const stored = await outside.table.get('realm', { realm });
  if (stored === undefined) throw new Error('there is no organization');
  return stored;
}

/** The payloads of the events after this number, for any audience. */
export async function payloadsAfter(realm: TestRealm, after: number): Promise<readonly Event[]> {
  const entries = await entriesIn(realm.log);
  return entries.flatMap((entry) => (entry.seq > after && entry.kind === 'event' ? [entry.payload] : []));
}

export const badRequest = { status: 400, body: { code: 'BAD_REQUEST' } };
export const notPermitted = { status: 400, body: { code: 'UNAUTHORIZED_PRINCIPAL' } };

/** Checks that a request was refused in this way, without a change of the organization and without an event. */
export async function expectRefused(
  realm: TestRealm,
  as: Person,
  given: Given,
  reply: object = badRequest,
): Promise<void> {
  const before = await storedRealm(realm);
  const told = (await entriesIn(realm.log)).length;
  expect(await change(realm, as, given)).toMatchObject(reply);
  expect(await storedRealm(realm)).toEqual(before);
  expect(await entriesIn(realm.log)).toHaveLength(told);
}
