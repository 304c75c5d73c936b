import { describe, expect, it } from 'vitest';
import { handler as get } from '../../functions/presence/get.ts';
import { handler as list } from '../../functions/presence/list.ts';
import { key } from '../../shared/table/keys.ts';
import type { Write } from '../../shared/table/write.ts';
import { answer, out } from '../support/accounts.ts';
import { all, here, minute, now } from '../support/presence-ping.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

describe('the cost of presence', () => {
  it('coming online takes 7 write units and one number of the log', async () => {
    const realm = await newRealm();
    const container = realm.container();
    const before = await lastNumber(realm);
    await here(container, realm.people.member);
    expect(container.meter.roundTrips).toBe(4);
    expect(container.meter.writeUnits).toBe(7);
    expect(await lastNumber(realm)).toBe(before + 1);
  });

  it('a ping takes 1 write unit, 2 once in five minutes, none if nothing changed, and no log number', async () => {
    const realm = await newRealm();
    await here(realm, realm.people.member);
    realm.pass(minute);
    const container = realm.container();
    const before = await lastNumber(realm);
    const units: number[] = [];
    for (let i = 0; i < 15; i++) {
      container.meter.reset();
      await here(container, realm.people.member, { last_update_id: -1 });
      expect(container.meter.roundTrips).toBeLessThanOrEqual(i === 0 ? 3 : 2);
      units.push(container.meter.writeUnits);
      container.meter.reset();
      await here(container, realm.people.member, { last_update_id: -1 });
      expect(container.meter.writeUnits).toBe(0);
      realm.pass(minute);
    }
    expect(Math.max(...units)).toBe(2);
    expect(units.filter((count) => count === 2).length).toBeLessThanOrEqual(4);
    expect(await lastNumber(realm)).toBe(before);
  });

  it('a ping costs as much with a thousand known users as with ten, if as many were recently active', async () => {
    const cost = async (size: number) => {
      const realm = await newRealm();
      const old = now(realm) - 30 * 86_400;
      const crowd = Array.from({ length: size }, (_, i): Write => {
        const userId = 500_000_000 + i;
        const item = { userId, at: old, idle: old, active: old, expires: old + 366 * 86_400 };
        return { put: key('presence', { realm: realm.realm, userId }), item };
      });
      for (let start = 0; start < size; start += 100) {
        await realm.outside.table.transact(crowd.slice(start, start + 100), realm.outside.uuid());
      }
      const container = realm.container();
      const { presence_last_update_id: last } = await all(container, realm.people.member);
      container.meter.reset();
      await all(container, realm.people.member, { last_update_id: last });
      return { read: container.meter.readUnits, trips: container.meter.roundTrips };
    };
    const [few, many] = [await cost(10), await cost(1_000)];
    expect(many).toEqual(few);
    expect(few.trips).toBe(1);
  });
});

describe('GET /realm/presence', () => {
  it('returns presences by email address, to bots too', async () => {
    const realm = await newRealm();
    const { member, bot } = realm.people;
    await here(realm, member);
    const { status, body } = await realm.call(list, bot);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      presences: { [member.email]: { aggregated: { status: 'active', client: 'website' } } },
      server_timestamp: expect.any(Number),
    });
    expect(body).not.toHaveProperty('presence_last_update_id');
  });
});

describe('GET /users/{id}/presence', () => {
  const of = (realm: TestRealm, user: number | string, query: Record<string, unknown> = {}) =>
    realm.call(get, realm.people.bot, undefined, { path: { user }, query });

  it('returns the last activity of a user, until they are offline', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await here(realm, member);
    const timestamp = expect.closeTo(now(realm), -1);
    const active = { status: 'active', timestamp };
    const modern = { active_timestamp: timestamp, idle_timestamp: timestamp };
    const { body } = await of(realm, member.userId);
    expect(body.presence).toEqual({ aggregated: active, website: active, ...modern });
    expect(body.server_timestamp).toBeCloseTo(realm.outside.now() / 1000, -1);
    expect((await of(realm, 'MEMBER@example.com')).body.presence.website).toEqual(active);
    expect((await of(realm, member.userId, { slim_presence: true })).body.presence).toEqual(modern);
    realm.pass(4 * minute);
    expect((await of(realm, member.userId)).body.presence.aggregated).toEqual({
      status: 'offline',
      timestamp,
    });
  });

  it('refuses bots, users without a known presence, and unknown users', async () => {
    const realm = await newRealm();
    const { member, bot, owner, guest } = realm.people;
    await here(realm, guest);
    await out(realm, owner, guest);
    for (const user of [bot.userId, member.userId, guest.userId, 0, 999_999, 'nobody@example.com']) {
      expect(answer(await of(realm, user)), String(user)).toEqual([400, 'BAD_REQUEST']);
    }
  });
});
