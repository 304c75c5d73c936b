import { describe, expect, it } from 'vitest';
import { handler as get } from '../../functions/presence/get.ts';
import { handler as list } from '../../functions/presence/list.ts';
import { handler as ping } from '../../functions/presence/update.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { answer, out } from '../support/accounts.ts';
import { givenClient } from '../support/event-queue.ts';
import { fault, lost, mishaps, refusedWith } from '../support/faults.ts';
import { givenSettings, givenUser } from '../support/given.ts';
import { all, here, minute, now } from '../support/presence-ping.ts';
import { newRealm, type Person, type Reply } from '../support/realm.ts';

const day = 86_400_000;

const ids = ({ presences }: Reply['body']): number[] => Object.keys(presences).map(Number).sort();

describe('POST /users/me/presence', () => {
  it('returns presences in the modern format, by user id', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    await here(realm, member);
    const { status, body } = await here(realm, admin, { status: 'idle', slim_presence: true });
    expect(status).toBe(200);
    expect(body).toEqual({
      result: 'success',
      msg: '',
      presences: {
        [member.userId]: {
          active_timestamp: expect.closeTo(now(realm), -1),
          idle_timestamp: expect.closeTo(now(realm), -1),
        },
        [admin.userId]: {
          active_timestamp: expect.any(Number),
          idle_timestamp: expect.closeTo(now(realm), -1),
        },
      },
      presence_last_update_id: expect.any(Number),
      server_timestamp: expect.any(Number),
    });
  });

  it('returns them in the legacy format, by address, unless the client sends an update id', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    realm.pass(day);
    await here(realm, member);
    const { body } = await here(realm, guest, { status: 'idle' });
    const seen = { client: 'website', timestamp: expect.any(Number) };
    expect(body.presences).toEqual({
      [member.email]: {
        aggregated: { ...seen, status: 'active' },
        website: { ...seen, status: 'active', pushable: false },
      },
      [guest.email]: {
        aggregated: { ...seen, status: 'idle' },
        website: { ...seen, status: 'idle', pushable: false },
      },
    });
    realm.pass(3 * minute);
    const later = (await here(realm, guest)).body.presences;
    expect(later[member.email].aggregated.status).toBe('idle');
    expect(ids(await all(realm, guest, { slim_presence: false }))).toEqual(
      [member.userId, guest.userId].sort(),
    );
  });

  it('shows a user who was never active with the time they joined', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const joined = now(realm);
    realm.pass(day);
    const idle = {
      active_timestamp: expect.closeTo(joined, -1),
      idle_timestamp: expect.closeTo(now(realm), -1),
    };
    const { presences, presence_last_update_id: last } = await all(realm, member);
    expect(presences).toEqual({ [member.userId]: idle });
    // Others get the same: with all presences, with changes only, in the legacy format, and for that user alone.
    expect((await all(realm, admin)).presences[member.userId]).toEqual(idle);
    expect((await all(realm, admin, { last_update_id: last })).presences[member.userId]).toEqual(idle);
    expect((await realm.call(list, admin)).body.presences[member.email].aggregated.status).toBe('idle');
    const one = await realm.call(get, admin, { user: `${member.userId}`, slim_presence: true });
    expect(one.body.presence).toEqual(idle);
    const registered = await givenClient(realm, admin, {
      slim_presence: true,
      fetch_event_types: ['presence'],
    });
    expect(registered.state.presences[member.userId]).toEqual(idle);
  });

  it('leaves out deactivated users who were never active', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { presence_last_update_id: last } = await all(realm, admin);
    await here(realm, member, { status: 'idle' });
    await out(realm, admin, member);
    expect(ids(await all(realm, admin, { last_update_id: last }))).toEqual([admin.userId]);
  });

  it('returns no presences for a mere ping', async () => {
    const realm = await newRealm();
    const { body } = await here(realm, realm.people.member, { ping_only: true, new_user_input: true });
    expect(body).toEqual({ result: 'success', msg: '' });
    expect(ids(await all(realm, realm.people.admin))).toContain(realm.people.member.userId);
  });

  it('keeps the last activity of an idle user', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    await here(realm, member);
    const then = now(realm);
    for (let i = 0; i < 8; i++) {
      realm.pass(minute);
      await here(realm, member, { status: 'idle' });
      const { presences } = await all(realm, admin);
      const { active_timestamp, idle_timestamp } = presences[member.userId];
      expect(active_timestamp).toBeCloseTo(then, -1);
      expect(idle_timestamp).toBeCloseTo(now(realm), -1);
    }
  });

  it('returns with the next ping only changes', async () => {
    const realm = await newRealm();
    const { member, admin, owner, guest } = realm.people;
    await here(realm, member);
    await here(realm, owner);
    let last = (await all(realm, admin)).presence_last_update_id;
    const news = async () => {
      const body = await all(realm, admin, { last_update_id: last });
      last = body.presence_last_update_id;
      return ids(body);
    };
    // A reply overlaps with the one before by seconds.
    realm.pass(minute / 2);
    await news();
    for (let i = 0; i < 14; i++) {
      realm.pass(minute / 2);
      const person = [member, owner, guest][i % 3] as Person;
      await here(realm, person);
      realm.pass(minute / 2);
      expect(await news()).toEqual([admin.userId, person.userId].sort());
    }
    // A client that slept for longer gets all changes since then.
    realm.pass(61 * minute);
    await here(realm, guest);
    realm.pass(61 * minute);
    await here(realm, owner);
    realm.pass(minute);
    expect(await news()).toEqual([admin.userId, guest.userId, owner.userId].sort());
    realm.pass(minute);
    expect(await news()).toEqual([admin.userId]);
  });

  it('returns two weeks of history, or as many days as requested, up to a year', async () => {
    const realm = await newRealm();
    const { member, owner, admin } = realm.people;
    await here(realm, member);
    realm.pass(10 * day);
    await here(realm, owner);
    realm.pass(10 * day);
    const told = async (days?: number) => {
      const body = await all(realm, admin, days === undefined ? {} : { history_limit_days: days });
      return ids(body).filter((id) => id !== admin.userId);
    };
    expect(await told()).toEqual([owner.userId]);
    expect(await told(5)).toEqual([]);
    expect(await told(365)).toEqual([member.userId, owner.userId].sort());
    const { state } = await givenClient(realm, admin, {
      fetch_event_types: ['presence'],
      slim_presence: true,
      presence_history_limit_days: 365,
    });
    expect(ids(state)).toEqual([member.userId, owner.userId, admin.userId].sort());
  });

  it('continues from the state of a registration, in both formats', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    await here(realm, member);
    const slim = await givenClient(realm, admin, { fetch_event_types: ['presence'], slim_presence: true });
    expect(ids(slim.state)).toEqual([member.userId]);
    const old = await givenClient(realm, admin, { fetch_event_types: ['presence'] });
    expect(Object.keys(old.state.presences)).toEqual([member.email]);
    realm.pass(minute);
    await here(realm, realm.people.owner);
    const { presence_last_update_id: last } = slim.state;
    expect(ids(await all(realm, admin, { last_update_id: last }))).toContain(realm.people.owner.userId);
  });

  it('leaves out deactivated users', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    await here(realm, member);
    await out(realm, owner, member);
    expect(ids(await all(realm, admin))).toEqual([admin.userId]);
    const { state } = await givenClient(realm, admin, { fetch_event_types: ['presence'] });
    expect(Object.keys(state.presences)).toEqual([admin.email]);
  });

  it('hides users from guests who may not see them (wire facts 3.8)', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const { guest, member } = realm.people;
    const stranger = await givenUser(realm);
    await here(realm, stranger);
    await here(realm, member);
    const known = [guest.userId, member.userId].sort();
    const first = await all(realm, guest);
    expect(ids(first)).toEqual(known);
    expect(ids(await all(realm, guest, { last_update_id: first.presence_last_update_id }))).toEqual(known);
    expect(Object.keys((await realm.call(list, guest)).body.presences)).not.toContain(stranger.email);
    const { state } = await givenClient(realm, guest, { fetch_event_types: ['presence'] });
    expect(Object.keys(state.presences)).not.toContain(stranger.email);
    expect(answer(await realm.call(get, guest, {}, { path: { user: stranger.userId } }))).toEqual([
      400,
      'BAD_REQUEST',
    ]);
  });

  it('returns and writes nothing if the organization has turned presence off', async () => {
    const realm = await newRealm({ presence_disabled: true });
    const { member, admin } = realm.people;
    realm.meter.reset();
    expect((await here(realm, member)).body.presences).toEqual({});
    expect(realm.meter.writeUnits).toBe(0);
    expect((await realm.call(list, admin)).body.presences).toEqual({});
    expect(answer(await realm.call(get, admin, {}, { path: { user: member.userId } }))).toEqual([
      400,
      'BAD_REQUEST',
    ]);
    const { state } = await givenClient(realm, admin, { fetch_event_types: ['presence', 'realm'] });
    expect(state).toMatchObject({ presences: {}, realm_presence_disabled: true });
  });

  it('does not show users who hide their presence (wire facts 3.10)', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    await givenSettings(realm, member, { presence_enabled: false });
    expect(ids((await here(realm, member, { last_update_id: -1 })).body)).toEqual([]);
    expect(ids(await all(realm, admin))).toEqual([admin.userId]);
  });

  it.each<[string, object]>([
    ['a status that does not exist', { status: 'busy' }],
    ['an update id that is none', { last_update_id: -2 }],
    ['an update id that is no number', { last_update_id: 'x' }],
    ['a history before the future', { history_limit_days: -1 }],
    ['a word for a boolean', { ping_only: '"yes"' }],
  ])('refuses %s', async (_, parameters) => {
    const realm = await newRealm();
    expect(answer(await here(realm, realm.people.member, parameters))).toEqual([400, 'BAD_REQUEST']);
  });

  it('refuses bots', async () => {
    const realm = await newRealm();
    expect(answer(await here(realm, realm.people.bot))).toEqual([400, 'BAD_REQUEST']);
    expect(answer(await realm.call(ping, realm.people.member))).toEqual([400, 'REQUEST_VARIABLE_MISSING']);
  });

  it.each([
    ['is lost', lost],
    ['meets another one', refusedWith(() => fault('TransactionConflictException'))],
  ])('returns no error if its write %s', async (_, mishap) => {
    const realm = await newRealm();
    await here(realm, realm.people.member, { status: 'idle' });
    realm.pass(minute);
    const container = realm.container(mishaps({ put: [mishap, mishap] }));
    expect((await here(container, realm.people.member, { status: 'idle' })).status).toBe(200);
    expect((await here(realm, realm.people.member)).status).toBe(200);
    expect(ids(await all(realm, realm.people.admin))).toContain(realm.people.member.userId);
  });

  it('does not overwrite the concurrent ping of an active client by that of an idle one', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    await here(realm, member, { status: 'idle' });
    realm.pass(minute);
    const overtaken = realm.container(
      mishaps({
        put: [
          async (send) => {
            await here(realm, member);
            return send();
          },
        ],
      }),
    );
    expect((await here(overtaken, member, { status: 'idle' })).status).toBe(200);
    expect((await all(realm, admin)).presences[member.userId].active_timestamp).toBeDefined();
  });
});
