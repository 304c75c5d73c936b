import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { handler as archive } from '../../functions/channels/archive.ts';
import { onlyUser, roles, systemGroups } from '../../shared/model/permission/permission.ts';
import { change } from '../support/accounts.ts';
import { type Event, givenClient } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const names = (events: readonly Event[]): string[] =>
  events.map(({ type, op }) => (op === undefined ? type : `${type}/${op}`));

describe('the event of a change of the role', () => {
  /** The names of the channels that a client has: those of its registration, changed by events. */
  async function follow(realm: TestRealm, person: Person) {
    const types = ['subscription', 'stream', 'default_streams'];
    const capabilities = { client_capabilities: { archived_channels: true } };
    const register = () => givenClient(realm, person, { fetch_event_types: types, ...capabilities });
    const known = (state: Event): Map<number, string> =>
      new Map(
        [...state.subscriptions, ...state.unsubscribed, ...state.never_subscribed].map((each: Event) => [
          each.stream_id,
          each.name,
        ]),
      );
    const client = await register();
    const channels = known(client.state);
    let defaults = client.state.realm_default_streams;
    const events = async () => {
      const got = await client.poll();
      for (const { type, op, streams, stream_ids, default_streams } of got) {
        if (type === 'default_streams') defaults = default_streams;
        if (type !== 'stream') continue;
        if (op === 'create') for (const each of streams) channels.set(each.stream_id, each.name);
        if (op === 'delete') for (const id of stream_ids) channels.delete(id);
      }
      return got;
    };
    const check = async () => {
      const { state } = await register();
      expect(channels).toEqual(known(state));
      expect(defaults).toEqual(state.realm_default_streams);
    };
    return { events, check, channels };
  }

  it('turns the state before into the state after, channels included (4.2)', async () => {
    const realm = await newRealm();
    const { owner, admin, guest } = realm.people;
    await givenChannel(realm, {}, [admin]);
    const webPublic = await givenChannel(realm, { isWebPublic: true });
    const secret = await givenChannel(realm, { isPrivate: true }, [admin]);
    const shared = await givenChannel(realm, { isPrivate: true }, [admin, guest]);
    await givenChannel(realm, {
      isPrivate: true,
      groups: { can_add_subscribers_group: systemGroups.moderators.id },
    });
    const client = await follow(realm, guest);
    expect([...client.channels.keys()]).toContain(webPublic.channelId);
    const path = [roles.member, roles.moderator, roles.administrator, roles.member, roles.owner, roles.guest];
    for (const role of path) {
      await change(realm, owner, guest, { role });
      await client.events();
      await client.check();
      expect(client.channels.has(secret.channelId)).toBe(role <= roles.administrator);
      expect(client.channels.has(shared.channelId)).toBe(true);
    }
  });

  it('reaches only that user, with only the channels that they can still see at the poll', async () => {
    const realm = await newRealm();
    const { owner, admin, member, moderator } = realm.people;
    const secret = await givenChannel(realm, { isPrivate: true }, [admin]);
    const [client, other] = [await follow(realm, member), await givenClient(realm, moderator)];
    await change(realm, owner, member, { role: roles.administrator });
    await change(realm, owner, member, { role: roles.member });
    const events = await client.events();
    expect(JSON.stringify(events)).not.toContain(`"${secret.name}"`);
    expect(names(events)).not.toContain('stream/create');
    expect(names(await other.poll())).not.toContain('stream/delete');
    await client.check();
  });

  it('has archived channels only for clients that handle them', async () => {
    const realm = await newRealm();
    const { owner, admin, member } = realm.people;
    const { channelId } = await givenChannel(
      realm,
      { isPrivate: true, groups: { can_administer_channel_group: onlyUser(admin.userId) } },
      [admin],
    );
    await realm.call(archive, owner, {}, { path: { stream_id: channelId } });
    const old = await givenClient(realm, member);
    const modern = await givenClient(realm, member, { client_capabilities: { archived_channels: true } });
    await change(realm, owner, member, { role: roles.administrator });
    expect(names(await old.poll())).not.toContain('stream/create');
    expect(names(await modern.poll())).toContain('stream/create');
  });
});

describe('a registration during a change of the role', () => {
  it('returns the new role, or it comes as an event (DESIGN 5, rule 4)', async () => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    let isChanged = false;
    // The caller has been read when the end of the log is looked for.
    const container = realm.container((send) => async (command) => {
      if (!isChanged && JSON.stringify(command).includes('/log"')) {
        isChanged = true;
        await setTimeout(50);
        expect((await change(realm, owner, member, { role: roles.administrator })).status).toBe(200);
      }
      return send(command);
    });
    const client = await givenClient(container, member, { fetch_event_types: ['realm_user'] });
    const told = (await client.poll({}, realm)).some(({ person }) => person?.role === roles.administrator);
    expect(isChanged).toBe(true);
    expect(told || client.state.is_admin).toBe(true);
  });
});
