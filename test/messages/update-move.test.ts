import { describe, expect, it } from 'vitest';
import { handler as updateFlags } from '../../functions/messages/updateFlags.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { givenClient, sendTo } from '../support/event-queue.ts';
import { fault, mishaps, refusedWith } from '../support/faults.ts';
import {
  givenChangedChannel,
  givenChannel,
  givenRealmSettings,
  givenSubscription,
  givenUser,
} from '../support/given.ts';
import { fetched, historyOf, invalid, move, refused, success, update } from '../support/message-update.ts';
import { workedOff } from '../support/outbox.ts';
import { react } from '../support/reactions.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { firstOf, storedCount, storedMessage, storedTopic } from '../support/stored.ts';

const say = (realm: TestRealm, as: Person, to: number, topic: string, content = 'x'): Promise<number> =>
  sendTo(realm, as, to, content, { topic });

describe('PATCH /messages/{message_id} with another topic', () => {
  it('moves one message, updates both topics, and sends an event', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const client = await givenClient(realm, admin, { event_types: ['update_message', 'delete_message'] });
    const [a, b] = [await say(realm, member, general, 'tea'), await say(realm, member, general, 'tea')];
    const c = await say(realm, admin, general, 'cake');
    expect(await move(realm, admin, b, { topic: ' CAKE ' })).toMatchObject(success);
    expect(await fetched(realm, admin, b)).toMatchObject({ subject: 'CAKE', stream_id: general });
    expect(await storedTopic(realm, general, 'tea')).toMatchObject({
      maxId: a,
      arrived: 2,
      left: 1,
    });
    expect(await storedTopic(realm, general, 'cake')).toMatchObject({
      maxId: c,
      topic: 'cake',
      participants: 2,
    });
    const [event, ...others] = await client.poll();
    expect(others).toEqual([]);
    expect(event).toEqual({
      id: event.id,
      type: 'update_message',
      user_id: admin.userId,
      edit_timestamp: event.edit_timestamp,
      message_id: b,
      message_ids: [b],
      rendering_only: false,
      stream_id: general,
      stream_name: 'general',
      propagate_mode: 'change_one',
      orig_subject: 'tea',
      subject: 'CAKE',
      topic_links: [],
      flags: [],
    });
    const message = await fetched(realm, member, b);
    expect(message).toMatchObject({
      last_moved_timestamp: event.edit_timestamp,
      edit_history: [
        { user_id: admin.userId, timestamp: event.edit_timestamp, prev_topic: 'tea', topic: 'CAKE' },
      ],
    });
    expect(message).not.toHaveProperty('last_edit_timestamp');
  });

  it('removes a topic with its last message, and does not count the empty topic as named', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const id = await say(realm, member, channelId, 'tea');
    await move(realm, member, id, { topic: 'coffee' });
    expect(await storedTopic(realm, channelId, 'tea')).toBeUndefined();
    expect(await storedTopic(realm, channelId, 'coffee')).toMatchObject({
      maxId: id,
      participants: 1,
    });
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 1 });
    expect(await firstOf(realm, channelId)).toBe(id);
    await move(realm, member, id, { topic: '(no topic)' });
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 0 });
    await move(realm, member, id, { topic: 'tea' });
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 1 });
    expect(await firstOf(realm, channelId)).toBe(id);
  });

  it('takes another spelling as a new name of the same topic', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const first = await say(realm, member, general, 'tea');
    const second = await say(realm, member, general, 'tea');
    const change = { topic: 'Tea', propagate_mode: 'change_all' };
    expect(await move(realm, member, first, change)).toMatchObject(success);
    for (const id of [first, second])
      expect(await fetched(realm, member, id)).toMatchObject({ subject: 'Tea' });
    expect(await storedTopic(realm, general, 'tea')).toMatchObject({ topic: 'Tea', arrived: 2, left: 0 });
    expect(await move(realm, member, first, change)).toMatchObject(refused);
  });

  it('sends one event for content and topic together', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const client = await givenClient(realm, member, { event_types: ['update_message'] });
    const id = await say(realm, member, realm.channels.general, 'tea', 'before');
    expect(await move(realm, member, id, { topic: 'cake', content: 'after' })).toMatchObject(success);
    const events = await client.poll();
    expect(events).toMatchObject([{ orig_subject: 'tea', subject: 'cake', content: 'after' }]);
    expect(await fetched(realm, member, id)).toMatchObject({ subject: 'cake', content: 'after' });
    expect(await historyOf(realm, member, id)).toMatchObject([
      { topic: 'tea', content: 'before' },
      { topic: 'cake', content: 'after', prev_topic: 'tea', prev_content: 'before' },
    ]);
  });

  it('sends the flags after the move, which makes the message unread in another channel', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const client = await givenClient(realm, admin, { event_types: ['update_message'] });
    const id = await say(realm, member, general, 'tea', '@**Adam Admin** look');
    await realm.call(updateFlags, admin, { messages: [id], op: 'add', flag: 'read' });
    await move(realm, member, id, { topic: 'cake' });
    await move(realm, member, id, { stream_id: random });
    expect((await client.poll()).map(({ flags }) => flags)).toEqual([['read', 'mentioned'], ['mentioned']]);
  });

  it('makes its sender and those who reacted participants of the new topic', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const id = await say(realm, member, general, 'tea');
    await react(realm, admin, id);
    await say(realm, member, general, 'cake');
    await move(realm, member, id, { topic: 'cake' });
    await workedOff(realm);
    expect(await storedTopic(realm, general, 'cake')).toMatchObject({ participants: 2 });
  });
});

describe('PATCH /messages/{message_id} with another channel', () => {
  it('moves the message with its topic, and updates the channels', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general, random } = realm.channels;
    const first = await say(realm, member, general, 'tea');
    const later = await say(realm, member, random, 'cake');
    expect(await move(realm, member, first, { stream_id: random })).toMatchObject(success);
    expect(await fetched(realm, member, first)).toMatchObject({
      stream_id: random,
      display_recipient: 'random',
      recipient_id: random,
      subject: 'tea',
      edit_history: [{ prev_stream: general, stream: random }],
    });
    expect(await storedCount(realm, general)).toMatchObject({ namedTopics: 0 });
    expect(await firstOf(realm, general)).toBeNull();
    expect(await storedCount(realm, random)).toMatchObject({ namedTopics: 2 });
    expect(await firstOf(realm, random)).toBe(first);
    expect(await move(realm, member, later, { stream_id: general, topic: 'pie' })).toMatchObject(success);
    expect(await storedCount(realm, general)).toMatchObject({ namedTopics: 1 });
    expect(await firstOf(realm, general)).toBe(later);
    const { channelKey, conversationKey } = await storedMessage(realm, later);
    expect(channelKey).toContain(`${general}`);
    expect(conversationKey).toContain('pie');
  });

  it('sends the move to users who may read it there, and a deletion to those who may not', async () => {
    const realm = await newRealm();
    const { member, admin, moderator } = realm.people;
    const open = await givenChannel(realm, {}, [member, admin]);
    const closed = await givenChannel(realm, { isPrivate: true }, [admin, moderator]);
    const types = { event_types: ['update_message', 'delete_message'] };
    const [left, stays, gains] = await Promise.all(
      [member, admin, moderator].map((each) => givenClient(realm, each, types)),
    );
    const id = await say(realm, admin, open.channelId, 'tea');
    expect(await move(realm, admin, id, { stream_id: closed.channelId })).toMatchObject(success);
    const moved = { type: 'update_message', stream_id: open.channelId, new_stream_id: closed.channelId };
    expect(await left?.poll()).toMatchObject([
      { type: 'delete_message', message_id: id, stream_id: open.channelId, topic: 'tea' },
    ]);
    for (const client of [stays, gains]) expect(await client?.poll()).toMatchObject([moved]);
    expect((await move(realm, member, id, { topic: 'x' })).body).toMatchObject(invalid.body);
    // Nothing that happens to it there is heard by who is not there.
    await react(realm, admin, id);
    await update(realm, admin, id, { content: 'secret' });
    expect(await left?.poll()).toEqual([]);
  });

  it('sends no event of a message to users who lost access before their client received it', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const open = await givenChannel(realm, {}, [member, admin]);
    const closed = await givenChannel(realm, { isPrivate: true }, [admin]);
    const client = await givenClient(realm, member, { event_types: ['message', 'update_message'] });
    const id = await say(realm, admin, open.channelId, 'tea', 'secret');
    await move(realm, admin, id, { stream_id: closed.channelId });
    expect(await client.poll()).toEqual([]);
  });
});

describe('specification 4.2: who may move messages', () => {
  const nobody = systemGroups.nobody.id;

  async function prepared() {
    const realm = await newRealm({
      can_move_messages_between_topics_group: nobody,
      can_move_messages_between_channels_group: nobody,
      can_resolve_topics_group: nobody,
    });
    const { member, admin } = realm.people;
    const channel = await givenChannel(realm, {}, [member, admin]);
    const { channelId } = channel;
    const other = await givenChannel(realm, {}, [member, admin]);
    const may = async (as: Person, change: object): Promise<boolean> => {
      const id = await say(realm, admin, channelId, 'tea');
      return (await move(realm, as, id, { ...change })).status === 200;
    };
    const setGroup = (name: string, value: number): Promise<void> =>
      givenChangedChannel(realm, channelId, { groups: { ...channel.groups, [name]: value } });
    return { realm, member, admin, channelId, other, may, setGroup };
  }

  it.each([
    ['another topic', { topic: 'cake' }, 'between_topics_group', 'can_move_messages_within_channel_group'],
    ['another channel', { stream_id: 0 }, 'between_channels_group', 'can_move_messages_out_of_channel_group'],
  ])(
    '%s: members of the group of the organization, of that of the channel, and its administrators may (4.2/can_move_messages_within_channel_group, 4.2/move-within-administrators, 4.2/move-within-organization, 4.2/can_move_messages_out_of_channel_group, 4.2/move-out-administrators, 4.2/move-out-organization)',
    async (_, given, own, group) => {
      const { realm, member, may, setGroup, other } = await prepared();
      const change = 'stream_id' in given ? { stream_id: other.channelId } : given;
      expect(await may(member, change)).toBe(false);
      // Organization administrators administer every channel.
      expect(await may(realm.people.admin, change)).toBe(true);
      await setGroup(group, systemGroups.members.id);
      expect(await may(member, change)).toBe(true);
      await setGroup('can_administer_channel_group', systemGroups.members.id);
      expect(await may(member, change)).toBe(true);
      await setGroup('can_send_message_group', systemGroups.everyone.id);
      expect(await may(member, change)).toBe(false);
      await givenRealmSettings(realm, { [`can_move_messages_${own}`]: systemGroups.members.id });
      expect(await may(member, change)).toBe(true);
    },
  );

  it.each([
    ['another topic', { topic: 'cake' }, 'can_move_messages_within_channel_group'],
    ['another channel', { stream_id: 0 }, 'can_move_messages_out_of_channel_group'],
  ])(
    '%s: only users who can read the channel may (4.2/move-within-content, 4.2/move-out-content)',
    async (_, given, group) => {
      const { realm, member, admin, other } = await prepared();
      const groups = { [group]: systemGroups.everyone.id };
      const { channelId } = await givenChannel(realm, { isPrivate: true, groups }, [admin]);
      const change = 'stream_id' in given ? { stream_id: other.channelId } : given;
      const id = await say(realm, admin, channelId, 'tea');
      expect(await move(realm, member, id, change)).toMatchObject(invalid);
      await givenSubscription(realm, member, channelId);
      expect(await move(realm, member, id, change)).toMatchObject(success);
    },
  );

  it('a change of channel and topic needs both permissions', async () => {
    const { member, may, setGroup, other, realm } = await prepared();
    await setGroup('can_move_messages_out_of_channel_group', systemGroups.members.id);
    expect(await may(member, { stream_id: other.channelId })).toBe(true);
    expect(await may(member, { stream_id: other.channelId, topic: 'cake' })).toBe(false);
    await givenRealmSettings(realm, { can_move_messages_between_topics_group: systemGroups.members.id });
    expect(await may(member, { stream_id: other.channelId, topic: 'cake' })).toBe(true);
  });

  it('resolving a topic has its own permission, and is not a move (4.2/can_resolve_topics_group)', async () => {
    const { realm, member, admin, channelId, may, setGroup } = await prepared();
    expect(await may(member, { topic: '✔ tea' })).toBe(false);
    await setGroup('can_resolve_topics_group', systemGroups.members.id);
    expect(await may(member, { topic: '✔ tea' })).toBe(true);
    expect(await may(member, { topic: '✔ cake' })).toBe(false);
    // Nobody may begin topics here, but resolving one begins none; and no limit of time counts.
    await givenChangedChannel(realm, channelId, {
      groups: {
        ...(await givenChannel(realm)).groups,
        can_create_topic_group: nobody,
        can_resolve_topics_group: systemGroups.members.id,
      },
    });
    await givenRealmSettings(realm, { move_messages_within_stream_limit_seconds: 60 });
    const id = await say(realm, admin, channelId, 'tea');
    realm.pass(1_000_000);
    expect(await move(realm, member, id, { topic: '✔ tea', propagate_mode: 'change_all' })).toMatchObject(
      success,
    );
    expect(await fetched(realm, member, id)).not.toHaveProperty('last_moved_timestamp');
    expect(await move(realm, member, id, { topic: 'tea', propagate_mode: 'change_all' })).toMatchObject(
      success,
    );
  });

  it('the organization gives the permission to resolve topics too (4.2/resolve-organization)', async () => {
    const { realm, member, may } = await prepared();
    await givenRealmSettings(realm, { can_resolve_topics_group: systemGroups.members.id });
    expect(await may(member, { topic: '✔ tea' })).toBe(true);
    expect(await may(member, { topic: 'cake' })).toBe(false);
  });

  it('the caller must be allowed to post in the target and to begin the topic, and its policy must allow it', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const source = await givenChannel(realm, {}, [member, admin]);
    const closed = await givenChannel(realm, { isPrivate: true }, [admin]);
    const archived = await givenChannel(realm, { isArchived: true }, [member]);
    const readOnly = await givenChannel(realm, { groups: { can_send_message_group: nobody } }, [member]);
    const fixed = await givenChannel(realm, { groups: { can_create_topic_group: nobody } }, [member]);
    const empty = await givenChannel(realm, { topicsPolicy: 'empty_topic_only' }, [member]);
    const named = await givenChannel(realm, { topicsPolicy: 'disable_empty_topic' }, [member]);
    const id = await say(realm, member, source.channelId, 'tea');
    const to = async ({ channelId }: { channelId: number }, topic?: string) =>
      move(realm, member, id, { stream_id: channelId, ...(topic !== undefined && { topic }) });
    const missing = await move(realm, member, id, { stream_id: 999_999 });
    expect(missing).toMatchObject(refused);
    // A hidden channel is no different from one that does not exist.
    expect((await to(closed)).body).toEqual(missing.body);
    for (const channel of [archived, readOnly, fixed, empty])
      expect(await to(channel)).toMatchObject(refused);
    expect(await to(named, '')).toMatchObject(refused);
    expect(await move(realm, member, id, { topic: '' })).toMatchObject(success);
    expect(await to(empty)).toMatchObject(success);
  });

  it('a new topic of the same channel needs the permission to begin one', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId, groups } = await givenChannel(realm, {}, [member]);
    const id = await say(realm, member, channelId, 'tea');
    await say(realm, member, channelId, 'cake');
    await givenChangedChannel(realm, channelId, { groups: { ...groups, can_create_topic_group: nobody } });
    expect(await move(realm, member, id, { topic: 'pie' })).toMatchObject(refused);
    expect(await move(realm, member, id, { topic: 'cake' })).toMatchObject(success);
  });

  it('time limits apply, but not to moderators', async () => {
    const realm = await newRealm({
      move_messages_within_stream_limit_seconds: 100,
      move_messages_between_streams_limit_seconds: 1_000,
    });
    const { member, moderator } = realm.people;
    const { general, random } = realm.channels;
    for (const channelId of [general, random])
      await givenSubscription(realm, await givenUser(realm), channelId);
    const old = await say(realm, moderator, general, 'tea');
    realm.pass(150_000);
    const young = await say(realm, member, general, 'tea');
    expect(await move(realm, member, old, { topic: 'cake' })).toMatchObject(refused);
    const all = { topic: 'cake', propagate_mode: 'change_all' };
    expect(await move(realm, member, young, all)).toMatchObject({
      status: 400,
      body: {
        code: 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
        first_message_id_allowed_to_move: young,
        total_messages_in_topic: 2,
        total_messages_allowed_to_move: 1,
      },
    });
    const later = { topic: 'cake', propagate_mode: 'change_later' };
    expect(await move(realm, member, young, later)).toMatchObject(success);
    expect(await move(realm, member, old, { stream_id: random })).toMatchObject(success);
    realm.pass(1_000_000);
    expect(await move(realm, member, old, { stream_id: general })).toMatchObject(refused);
    expect(await move(realm, moderator, old, { stream_id: general, topic: 'old' })).toMatchObject(success);
  });
});

describe('two at once', () => {
  it('two moves of one message leave it where the last event says, and count it once', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const client = await givenClient(realm, member, { event_types: ['update_message'] });
    const id = await say(realm, member, channelId, 'tea');
    await Promise.all(['a', 'b', 'c'].map((topic) => move(realm.container(), member, id, { topic })));
    const { topic } = await storedMessage(realm, id);
    expect((await client.poll()).at(-1).subject).toBe(topic);
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 1 });
    expect(await storedTopic(realm, channelId, topic ?? '')).toMatchObject({ maxId: id });
  });

  it('a move keeps counts right beside a send to its old or new topic', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    for (let round = 0; round < 5; round++) {
      const [tea, cake] = [`tea ${round}`, `cake ${round}`];
      const id = await say(realm, member, channelId, tea);
      const [moved, inOld, inNew] = await Promise.all([
        move(realm.container(), member, id, { topic: cake }),
        say(realm.container(), member, channelId, tea),
        say(realm.container(), member, channelId, cake),
      ]);
      expect(moved).toMatchObject(success);
      expect(await storedTopic(realm, channelId, tea)).toMatchObject({ maxId: inOld });
      expect(await storedTopic(realm, channelId, cake)).toMatchObject({ maxId: inNew });
    }
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 10 });
  });
});

describe('DESIGN 7', () => {
  it('moving one message takes 3 round trips, with its notice', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general, random } = realm.channels;
    const id = await say(realm, member, general, 'tea');
    const container = realm.container();
    for (const change of [{ topic: 'cake' }, { stream_id: random }, { stream_id: general, topic: 'pie' }]) {
      container.meter.reset();
      expect(await update(container, member, id, change)).toMatchObject(success);
      expect(container.meter.roundTrips).toBe(3);
    }
  });
});

describe('an edit whose reads all fail', () => {
  it.each(['change_one', 'change_all'])(
    'is an internal error and changes nothing, without an unhandled rejection (%s)',
    async (propagate_mode) => {
      const realm = await newRealm();
      const { member } = realm.people;
      const id = await say(realm, member, realm.channels.general, 'tea');
      const broken = refusedWith(() => fault('InternalServerError'));
      const container = realm.container(mishaps({ get: [undefined, broken, broken] }));
      const reply = await update(container, member, id, { topic: 'cake', content: 'y', propagate_mode });
      expect(reply).toMatchObject({ status: 500 });
      expect(await fetched(realm, member, id)).toMatchObject({ subject: 'tea', content: 'x' });
    },
  );
});
