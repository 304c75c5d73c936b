import { describe, expect, it } from 'vitest';
import { handler as getEvents } from '../../functions/events/get.ts';
import { handler as register } from '../../functions/events/register.ts';
import { handler as deactivate } from '../../functions/realm/deactivate.ts';
import { handler as getIcon } from '../../functions/realm/getIcon.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { setInService } from '../../shared/domain/realm-edit/service.ts';
import { givenClient } from '../support/event-queue.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

const off = (realm: TestRealm, as: Person, parameters: Readonly<Record<string, unknown>> = {}) =>
  realm.call(deactivate, as, parameters);

const CLOSED = { status: 401, body: { code: 'REALM_DEACTIVATED' } };

describe('POST /realm/deactivate (companion facts 4.8)', () => {
  it('makes every later request fail, waiting polls too, until the operator reactivates the organization', async () => {
    const realm = await newRealm();
    const { owner, member, bot } = realm.people;
    const client = await givenClient(realm, member, { event_types: ['message'] });
    const query = { queue_id: client.queueId, last_event_id: client.last };
    const waiting = realm.call(getEvents, member, undefined, { query });
    expect(await off(realm, owner, { deletion_delay_days: null })).toMatchObject({ status: 200 });
    expect(await waiting).toMatchObject(CLOSED);
    for (const [handler, person] of [
      [getOwn, member],
      [getIcon, bot],
      [register, owner],
      [deactivate, owner],
    ] as const)
      expect(await realm.call(handler, person)).toMatchObject(CLOSED);
    expect(await setInService(realm.outside, realm.realm, true)).toBe(true);
    expect(await setInService(realm.outside, realm.realm, true)).toBe(false);
    expect((await realm.call(getOwn, member)).status).toBe(200);
    expect(await client.poll()).toEqual([]);
  });

  it('is allowed only to owners, and deletes nothing by itself', async () => {
    const realm = await newRealm();
    const { admin, owner, member } = realm.people;
    const before = await lastNumber(realm);
    const refused = await off(realm, admin);
    expect([refused.status, refused.body.code]).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
    for (const days of [0, 14, -1, 'soon']) {
      const { status, body } = await off(realm, owner, { deletion_delay_days: days });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    }
    expect((await realm.call(getOwn, member)).status).toBe(200);
    expect(await loggedAfter(realm, before)).toEqual([]);
  });
});
