import { describe, expect, it } from 'vitest';
import { handler as updateSettings } from '../../functions/settings/update.ts';
import { pulseKey, slotOf } from '../../shared/domain/presence/presence.ts';
import { MOMENT } from '../../shared/log/slot.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { type Client, givenClient } from '../support/event-queue.ts';
import { mishaps } from '../support/faults.ts';
import { givenChannel, givenSettings, givenUser } from '../support/given.ts';
import { here, minute, now } from '../support/presence-ping.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

/** A client that gets the modern format of `presence` events, and no others. */
const givenListener = (realm: TestRealm, person: Person, parameters: object = {}): Promise<Client> =>
  givenClient(realm, person, {
    event_types: ['presence'],
    client_capabilities: { simplified_presence_events: true },
    ...parameters,
  });

const typesAfter = async (realm: TestRealm, cursor: number) =>
  (await loggedAfter(realm, cursor)).map((entry) =>
    entry.kind === 'event' ? entry.payload.type : entry.kind,
  );

describe('presence events', () => {
  it('announce a user who comes online, in the format of each client', async () => {
    const realm = await newRealm();
    const { member, guest, admin, bot } = realm.people;
    const legacy = { client_capabilities: {} };
    const [modern, own, old, slim] = await Promise.all([
      givenListener(realm, guest),
      givenListener(realm, member),
      givenListener(realm, bot, legacy),
      givenListener(realm, admin, { ...legacy, slim_presence: true }),
    ]);
    await here(realm, member);
    const at = expect.closeTo(now(realm), -1);
    const event = { type: 'presence', id: expect.any(Number) };
    const presences = { [member.userId]: { active_timestamp: at, idle_timestamp: at } };
    expect(await modern.poll()).toEqual([{ ...event, presences }]);
    expect(await own.poll()).toEqual([{ ...event, presences }]);
    const website = { client: 'website', status: 'active', timestamp: at, pushable: false };
    const inLegacy = { ...event, user_id: member.userId, server_timestamp: at, presence: { website } };
    expect(await old.poll()).toEqual([{ ...inLegacy, email: member.email }]);
    expect(await slim.poll()).toEqual([inLegacy]);
  });

  it('come at most once in five minutes for each user, and never for a user who stays active or is idle', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const before = await lastNumber(realm);
    await here(realm, admin, { status: 'idle' });
    for (let i = 0; i < 12; i++) {
      await here(realm, member, { ping_only: i % 2 === 0 });
      realm.pass(minute);
    }
    expect(await typesAfter(realm, before)).toEqual(['presence']);
    realm.pass(3 * minute);
    await here(realm, member);
    expect(await typesAfter(realm, before)).toEqual(['presence']);
    realm.pass(5 * minute);
    await here(realm, member, { status: 'idle' });
    expect(await typesAfter(realm, before)).toEqual(['presence']);
    await here(realm, member, { ping_only: true });
    expect(await typesAfter(realm, before)).toEqual(['presence', 'presence']);
  });

  it('come once if two devices come online at the same time', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const before = await lastNumber(realm);
    const client = await givenListener(realm, admin);
    const overtaken = realm.container(
      mishaps({
        transact: [
          async (send) => {
            await here(realm, member);
            // In another slot of time the two write different pulses.
            realm.pass(5 * minute - 1_000);
            return send();
          },
        ],
      }),
    );
    expect((await here(overtaken, member)).status).toBe(200);
    expect(await typesAfter(realm, before)).toEqual(['presence']);
    expect(await client.poll()).toHaveLength(0);
  });

  it('are not delivered late', async () => {
    const realm = await newRealm();
    const client = await givenListener(realm, realm.people.admin);
    await here(realm, realm.people.member);
    realm.pass(MOMENT + 1_000);
    expect(await client.poll()).toEqual([]);
  });

  it('announce at once that a user hides or shows their presence', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    await here(realm, member);
    const client = await givenListener(realm, admin);
    const set = (presence_enabled: boolean) => realm.call(updateSettings, member, { presence_enabled });
    expect((await set(false)).status).toBe(200);
    await here(realm, member);
    const [hidden, ...others] = await client.poll();
    expect(hidden.presences[member.userId].idle_timestamp).toBeLessThan(now(realm) - 200);
    expect(others).toEqual([]);
    expect((await set(true)).status).toBe(200);
    await here(realm, member);
    const [shown, ...more] = await client.poll();
    expect(shown.presences[member.userId].active_timestamp).toBeGreaterThan(now(realm) - 60);
    expect(more).toEqual([]);
  });

  it('are not sent to guests who may not see the user', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const { guest } = realm.people;
    const [known, stranger] = [await givenUser(realm), await givenUser(realm)];
    await givenChannel(realm, {}, [known, guest]);
    const client = await givenListener(realm, guest);
    await here(realm, stranger);
    await here(realm, known);
    expect((await client.poll()).map(({ presences }) => Object.keys(presences))).toEqual([
      [`${known.userId}`],
    ]);
  });

  it('are not sent for users who hide their presence, nor if presence is turned off', async () => {
    const [realm, silent] = [await newRealm(), await newRealm({ presence_disabled: true })];
    await givenSettings(realm, realm.people.member, { presence_enabled: false });
    for (const each of [realm, silent]) {
      const before = await lastNumber(each);
      await here(each, each.people.member);
      await here(each, each.people.member, { ping_only: true });
      expect(await typesAfter(each, before)).toEqual([]);
    }
  });

  it('are not sent while more than 100 others are online, but the presence is stored', async () => {
    const realm = await newRealm();
    const { member, admin, owner, moderator } = realm.people;
    const at = now(realm);
    const crowd = (size: number, from = 0) =>
      Promise.all(
        Array.from({ length: size }, (_, i) => {
          const presence = { userId: 500_000_000 + from + i, at, idle: at, active: at, expires: at + 3_600 };
          return realm.outside.table.put(pulseKey(realm.realm, slotOf(at), presence.userId), presence);
        }),
      );
    await crowd(100);
    const before = await lastNumber(realm);
    await here(realm, member, { ping_only: true });
    expect(await typesAfter(realm, before)).toEqual(['presence']);
    await crowd(1, 100);
    await here(realm, admin, { ping_only: true });
    await here(realm, moderator, { last_update_id: at - 60 });
    expect(await typesAfter(realm, before)).toEqual(['presence']);
    const { body } = await here(realm, owner, { status: 'idle', last_update_id: -1 });
    expect(Object.keys(body.presences)).toEqual(
      expect.arrayContaining([`${admin.userId}`, `${moderator.userId}`]),
    );
  });
});
