import { describe, expect, it } from 'vitest';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { onlyUser, roles } from '../../shared/model/permission/permission.ts';
import { edited } from '../support/channel-state.ts';
import { type Client, type Event, givenClient, sendTo } from '../support/event-queue.ts';
import { givenChangedUser, givenChannel, givenGroup } from '../support/given.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

type Name = keyof TestRealm['people'];

const archivists = { client_capabilities: { archived_channels: true, empty_topic_name: true } };

/** Clients of these users that get only events of channels. */
async function clientsOf<const N extends Name>(
  realm: TestRealm,
  names: readonly N[],
  given: object = archivists,
): Promise<Readonly<Record<N, Client>>> {
  const event_types = ['stream', 'subscription', 'default_streams'];
  const clients = await Promise.all(
    names.map(async (name) => [
      name,
      await givenClient(realm, realm.people[name], { event_types, ...given }),
    ]),
  );
  return Object.fromEntries(clients);
}

/** What an event is, in short. */
const short = ({ type, op, property }: Event): string => [type, op, property].filter(Boolean).join(' ');

/** All events of a client, in short form. A poll ends at a change of permissions until that has settled. */
async function all(client: Client): Promise<Event[]> {
  const events = await client.poll();
  return events.length === 0 ? [] : [...events, ...(await all(client))];
}

/** The events of each client, in short form. */
const heard = async (
  clients: Readonly<Record<string, Client>>,
): Promise<Readonly<Record<string, string[]>>> =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(clients).map(async ([name, client]) => [name, (await all(client)).map(short)]),
    ),
  );

const created = ['stream create', 'subscription peer_add'];
const deleted = ['stream delete'];

describe('events of a change of privacy (wire facts 4.6)', () => {
  it('create a channel that becomes public for users to whom it is new, without an update', async () => {
    const realm = await newRealm();
    const { owner, admin } = realm.people;
    const { channelId, name } = await givenChannel(realm, { isPrivate: true }, [owner, admin]);
    const clients = await clientsOf(realm, ['owner', 'admin', 'moderator', 'member', 'guest']);
    await edited(realm, owner, channelId, { is_private: false, description: 'for all' });
    const [creation, peers, ...rest] = await clients.member.poll();
    expect(rest).toEqual([]);
    expect(creation.streams).toMatchObject([
      { stream_id: channelId, name, invite_only: false, description: 'for all', subscriber_count: 0 },
    ]);
    expect(peers).toMatchObject({
      op: 'peer_add',
      stream_ids: [channelId],
      user_ids: [owner.userId, admin.userId].sort((a, b) => a - b),
    });
    const updates = ['stream update invite_only', 'stream update description'];
    expect(await heard(clients)).toEqual({
      owner: updates,
      admin: updates,
      moderator: created,
      member: [],
      guest: [],
    });
  });

  it('delete a channel that becomes private for users who are not in it', async () => {
    const realm = await newRealm();
    const { owner, guest } = realm.people;
    const { channelId, name } = await givenChannel(realm, {}, [owner, guest]);
    const clients = await clientsOf(realm, ['owner', 'admin', 'member', 'guest']);
    await edited(realm, owner, channelId, { is_private: true, new_name: 'secret' });
    const [deletion, ...rest] = await clients.member.poll();
    expect(rest).toEqual([]);
    expect(deletion).toMatchObject({ stream_ids: [channelId], streams: [{ stream_id: channelId }] });
    const [privacy, renaming] = await clients.guest.poll();
    expect(privacy).toMatchObject({
      name,
      property: 'invite_only',
      value: true,
      history_public_to_subscribers: false,
      is_web_public: false,
    });
    expect(renaming).toMatchObject({ name, property: 'name', value: 'secret' });
    const updates = ['stream update invite_only', 'stream update name'];
    expect(await heard(clients)).toEqual({ owner: updates, admin: updates, member: [], guest: [] });
  });

  it('create a web-public channel for guests, and delete it when it is no longer web-public', async () => {
    const realm = await newRealm({ enable_spectator_access: true });
    const { owner } = realm.people;
    const { channelId } = await givenChannel(realm);
    const clients = await clientsOf(realm, ['member', 'guest']);
    await edited(realm, owner, channelId, { is_web_public: true });
    // Nobody is subscribed, so there are no subscription events.
    expect(await heard(clients)).toEqual({ member: ['stream update invite_only'], guest: ['stream create'] });
    await edited(realm, owner, channelId, { is_web_public: false });
    expect(await heard(clients)).toEqual({ member: ['stream update invite_only'], guest: deleted });
  });

  it.each(['can_administer_channel_group', 'can_subscribe_group', 'can_add_subscribers_group'])(
    'create a private channel for members of %s while the setting names them, and delete it afterwards',
    async (setting) => {
      const realm = await newRealm();
      const { owner, member, guest } = realm.people;
      const { groupId } = await givenGroup(realm, { members: [member, guest] });
      const { channelId } = await givenChannel(realm, { isPrivate: true }, [owner]);
      const clients = await clientsOf(realm, ['owner', 'admin', 'member', 'moderator', 'guest']);
      const update = `stream update ${setting}`;
      await edited(realm, owner, channelId, { [setting]: { new: groupId } });
      const others = { moderator: [], guest: [], owner: [update], admin: [update] };
      expect(await heard(clients)).toEqual({ ...others, member: created });
      await edited(realm, owner, channelId, { [setting]: { new: onlyUser(member.userId) } });
      expect(await heard(clients)).toEqual({ ...others, member: [update] });
      await edited(realm, owner, channelId, { [setting]: { new: onlyUser(guest.userId) } });
      expect(await heard(clients)).toEqual({ ...others, member: deleted });
    },
  );

  it('come in a consistent order if several changes are read at once', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true }, [owner]);
    const clients = await clientsOf(realm, ['member', 'guest']);
    await edited(realm, owner, channelId, { is_private: false });
    await edited(realm, owner, channelId, { is_private: true });
    // The name in between is not sent to users who can no longer see the channel.
    expect(await heard(clients)).toEqual({ member: deleted, guest: [] });
    await edited(realm, owner, channelId, { is_private: false });
    await edited(realm, owner, channelId, { is_private: true });
    await edited(realm, owner, channelId, { is_private: false });
    expect(await heard(clients)).toEqual({ member: [...created, ...deleted, ...created], guest: [] });
  });

  it('come only once for a user who was subscribed before they read them', async () => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    const { channelId, name } = await givenChannel(realm, { isPrivate: true }, [owner]);
    const clients = await clientsOf(realm, ['member']);
    await edited(realm, owner, channelId, { can_remove_subscribers_group: { new: 2 } });
    await realm.call(subscribe, owner, { subscriptions: [{ name }], principals: [member.userId] });
    await edited(realm, owner, channelId, { is_private: false });
    expect((await heard(clients)).member).toEqual([
      'stream create',
      'subscription add',
      'stream update invite_only',
    ]);
  });

  it('do not reveal changes from the time when the channel was private', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true, name: 'plan' }, [owner]);
    const clients = await clientsOf(realm, ['member']);
    await edited(realm, owner, channelId, { new_name: 'secret plan' });
    await edited(realm, owner, channelId, { new_name: 'harmless' });
    await edited(realm, owner, channelId, { is_private: false });
    const events = await all(clients.member);
    expect(events.map(short)).toEqual(created);
    expect(JSON.stringify(events)).not.toContain('secret');
  });

  it('end with the loss of access, and so do messages', async () => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [owner]);
    const bystander = await givenClient(realm, member, { all_public_streams: true });
    await sendTo(realm, owner, channelId, 'in public');
    await edited(realm, owner, channelId, { is_private: true });
    await sendTo(realm, owner, channelId, 'in private');
    await edited(realm, owner, channelId, { description: 'secret', new_name: 'secret' });
    const events = await all(bystander);
    expect(events.map(short)).toEqual(deleted);
    expect(JSON.stringify(events)).not.toContain('secret');
  });
});

describe('events of other changes (wire facts 4.6)', () => {
  it('have the whole list of default channels, for all but guests', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { general } = realm.channels;
    const { channelId } = await givenChannel(realm);
    const clients = await clientsOf(realm, ['member', 'guest']);
    await edited(realm, admin, channelId, { is_default_stream: true });
    expect(await clients.member.poll()).toMatchObject([
      { type: 'default_streams', default_streams: [general, channelId] },
    ]);
    await edited(realm, admin, channelId, { is_default_stream: false });
    expect(await clients.member.poll()).toMatchObject([
      { type: 'default_streams', default_streams: [general] },
    ]);
    expect(await clients.guest.poll()).toEqual([]);
  });

  it('of an archived channel reach only clients that handle archived channels, until it is unarchived', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm, { isArchived: true }, [admin]);
    const modern = await clientsOf(realm, ['member']);
    const old = await clientsOf(realm, ['member'], { client_capabilities: {} });
    await edited(realm, admin, channelId, { description: 'in the archive' });
    expect(await heard(modern)).toEqual({ member: ['stream update description'] });
    expect(await heard(old)).toEqual({ member: [] });
    await edited(realm, admin, channelId, { is_archived: false });
    expect((await heard(modern)).member).toEqual(['stream update is_archived', 'stream create']);
    expect((await heard(old)).member).toContain('stream create');
  });

  it('depend on permissions at the time of reading, so that a user who became a guest gets none', async () => {
    const realm = await newRealm();
    const { owner, moderator } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [owner]);
    const clients = await clientsOf(realm, ['moderator', 'member']);
    await givenChangedUser(realm, moderator, { role: roles.guest });
    await edited(realm, owner, channelId, { description: 'x', topics_policy: 'allow_empty_topic' });
    expect(await heard(clients)).toEqual({
      moderator: [],
      member: ['stream update topics_policy', 'stream update description'],
    });
  });
});
