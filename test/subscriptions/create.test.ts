import { describe, expect, it } from 'vitest';
import { handler as add } from '../../functions/subscriptions/add.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChannel, givenGroup } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import {
  channelIdOf,
  expectConsistent,
  listed,
  subscriptionOf,
  told,
} from '../support/subscription-state.ts';

const everyone = systemGroups.everyone.id;

describe('POST /users/me/subscriptions to a channel that does not exist', () => {
  it('creates the channel and subscribes the caller (3/new-channel)', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const before = await lastNumber(realm);
    const { body } = await realm.call(add, member, {
      subscriptions: [{ name: ' Tea & cakes ', description: 'All\nof **it**', color: '#abc' }],
    });
    expect(body).toEqual({
      result: 'success',
      msg: '',
      subscribed: { [member.userId]: ['Tea & cakes'] },
      already_subscribed: {},
      new_subscription_messages_sent: true,
    });
    const id = (await channelIdOf(realm, 'tea & CAKES')) as number;
    await expectConsistent(realm, id, Object.values(realm.people));
    expect(await listed(realm, member, 'Tea & cakes')).toMatchObject({
      stream_id: id,
      name: 'Tea & cakes',
      description: 'All of **it**',
      rendered_description: '<p>All of <strong>it</strong></p>',
      color: '#abc',
      creator_id: member.userId,
      invite_only: false,
      is_web_public: false,
      is_archived: false,
      history_public_to_subscribers: true,
      message_retention_days: null,
      folder_id: null,
      first_message_id: null,
      subscriber_count: 1,
      topics_policy: 'inherit',
      can_administer_channel_group: { direct_members: [member.userId], direct_subgroups: [] },
      can_add_subscribers_group: systemGroups.nobody.id,
      can_send_message_group: everyone,
      can_create_topic_group: everyone,
      can_remove_subscribers_group: systemGroups.administrators.id,
      can_subscribe_group: systemGroups.nobody.id,
      in_home_view: true,
      is_muted: false,
      pin_to_top: false,
    });

    const events = await told(realm, before);
    expect(events.map(({ hearers, payload }) => [hearers, payload.type, payload.op])).toEqual([
      [{ channel: id }, 'stream', 'create'],
      [{ users: [member.userId] }, 'subscription', 'add'],
      [{ channel: id, except: [member.userId] }, 'subscription', 'peer_add'],
    ]);
    expect(events.every(({ access }) => access)).toBe(true);
    expect(events[0]?.seq).toBe(id);
    // Clients count those whom the next events tell.
    expect(events[0]?.payload.streams).toMatchObject([
      { stream_id: id, name: 'Tea & cakes', subscriber_count: 0 },
    ]);
    expect(events[1]?.payload.subscriptions).toMatchObject([
      { stream_id: id, color: '#abc', subscriber_count: 1 },
    ]);
    expect(events[2]?.payload).toEqual({
      type: 'subscription',
      op: 'peer_add',
      stream_ids: [id],
      user_ids: [member.userId],
    });
    expect((await subscriptionOf(realm, member, id))?.since).toBe(events[2]?.seq);
    expect(await subscriptionOf(realm, admin, id)).toBeUndefined();
  });

  it('accepts every setting of a new channel', async () => {
    const realm = await newRealm({ enable_spectator_access: true });
    const { owner, member } = realm.people;
    const group = await givenGroup(realm, { members: [member] });
    const settings = {
      invite_only: true,
      history_public_to_subscribers: true,
      message_retention_days: 30,
      topics_policy: 'empty_topic_only',
      can_add_subscribers_group: group.groupId,
      can_administer_channel_group: { direct_members: [], direct_subgroups: [group.groupId] },
      can_create_topic_group: systemGroups.moderators.id,
      can_delete_any_message_group: { direct_members: [], direct_subgroups: [] },
      can_delete_own_message_group: everyone,
      can_move_messages_out_of_channel_group: systemGroups.administrators.id,
      can_move_messages_within_channel_group: systemGroups.fullMembers.id,
      can_remove_subscribers_group: systemGroups.owners.id,
      can_resolve_topics_group: systemGroups.members.id,
      can_send_message_group: {
        direct_members: [member.userId, member.userId],
        direct_subgroups: [group.groupId],
      },
      can_subscribe_group: systemGroups.members.id,
    };
    await realm.call(add, owner, { subscriptions: [{ name: 'vault' }], folder_id: null, ...settings });
    expect(await listed(realm, owner, 'vault')).toMatchObject({
      invite_only: true,
      history_public_to_subscribers: true,
      message_retention_days: 30,
      topics_policy: 'empty_topic_only',
      can_add_subscribers_group: group.groupId,
      can_administer_channel_group: group.groupId,
      can_create_topic_group: systemGroups.moderators.id,
      can_delete_any_message_group: systemGroups.nobody.id,
      can_delete_own_message_group: everyone,
      can_move_messages_out_of_channel_group: systemGroups.administrators.id,
      can_move_messages_within_channel_group: systemGroups.fullMembers.id,
      can_remove_subscribers_group: systemGroups.owners.id,
      can_resolve_topics_group: systemGroups.members.id,
      can_send_message_group: { direct_members: [member.userId], direct_subgroups: [group.groupId] },
      can_subscribe_group: systemGroups.members.id,
    });
    await realm.call(add, owner, {
      subscriptions: [{ name: 'square' }],
      is_web_public: true,
      is_default_stream: true,
      message_retention_days: 'unlimited',
    });
    expect(await listed(realm, owner, 'square')).toMatchObject({
      is_web_public: true,
      message_retention_days: -1,
    });
  });

  it('makes it web-public only if the server setting WEB_PUBLIC_STREAMS_ENABLED is on (4.2/is_web_public-server)', async () => {
    const realm = await newRealm({ enable_spectator_access: true });
    const { owner } = realm.people;
    const square = { subscriptions: [{ name: 'square' }], is_web_public: true };
    const off = realm.container(undefined, { environment: { WEB_PUBLIC_STREAMS_ENABLED: 'false' } });
    expect(await off.call(add, owner, square)).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
    const on = realm.container(undefined, { environment: { WEB_PUBLIC_STREAMS_ENABLED: 'true' } });
    expect(await on.call(add, owner, square)).toMatchObject({ status: 200 });
  });

  it('sends the list of default channels, if the new one is a default channel (wire facts 4.6)', async () => {
    const realm = await newRealm();
    const { admin, member, guest } = realm.people;
    const types = { event_types: ['default_streams'] };
    const [client, stranger] = [
      await givenClient(realm, member, types),
      await givenClient(realm, guest, types),
    ];
    await realm.call(add, admin, { subscriptions: [{ name: 'plain' }] });
    await realm.call(add, admin, {
      subscriptions: [{ name: 'one' }, { name: 'two' }],
      is_default_stream: true,
    });
    const ids = [await channelIdOf(realm, 'one'), await channelIdOf(realm, 'two')];
    expect(await client.poll()).toMatchObject([{ default_streams: [realm.channels.general, ...ids] }]);
    expect(await stranger.poll()).toEqual([]);
  });

  it('protects the history of a private channel by default, and never that of a public one', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await realm.call(add, member, { subscriptions: [{ name: 'closed' }], invite_only: true });
    await realm.call(add, member, {
      subscriptions: [{ name: 'open' }],
      history_public_to_subscribers: false,
    });
    expect(await listed(realm, member, 'closed')).toMatchObject({ history_public_to_subscribers: false });
    expect(await listed(realm, member, 'open')).toMatchObject({ history_public_to_subscribers: true });
  });

  it('creates a channel for others without the caller in it', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const { body } = await realm.call(add, member, {
      subscriptions: [{ name: 'surprise' }],
      principals: [guest.userId],
      invite_only: true,
    });
    expect(body.subscribed).toEqual({ [guest.userId]: ['surprise'] });
    const id = (await channelIdOf(realm, 'surprise')) as number;
    expect(await expectConsistent(realm, id, [member, guest])).toEqual([guest.userId]);
  });

  it('links names in a description, but only of things that the caller can see', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenChannel(realm, { name: 'hidden', isPrivate: true });
    await realm.call(add, member, {
      subscriptions: [{ name: 'index', description: 'See #**general** and #**hidden**' }],
    });
    const { rendered_description } = await listed(realm, member, 'index');
    expect(rendered_description).toContain(`data-stream-id="${realm.channels.general}"`);
    expect(rendered_description).toContain('#<strong>hidden</strong>');
  });

  it('accepts names and descriptions up to the limit, in code points', async () => {
    const realm = await newRealm();
    const name = '🫖'.repeat(60);
    const description = '🍰'.repeat(1024);
    const { status } = await realm.call(add, realm.people.member, { subscriptions: [{ name, description }] });
    expect(status).toBe(200);
    expect(await channelIdOf(realm, name)).toBeDefined();
  });
});
