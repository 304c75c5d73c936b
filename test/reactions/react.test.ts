import { describe, expect, it } from 'vitest';
import { visibility } from '../../shared/model/message/user-topic.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { key } from '../../shared/table/keys.ts';
import type { Send } from '../../shared/table/table.ts';
import { givenClient, sendTo } from '../support/event-queue.ts';
import {
  givenChangedChannel,
  givenChannel,
  givenEmoji,
  givenMutedChannel,
  givenSettings,
  givenSubscription,
  givenUser,
} from '../support/given.ts';
import { react, reactionsTo, THUMB, unreact } from '../support/reactions.ts';
import { newRealm, type Person } from '../support/realm.ts';
import { loggedAfter, storedTopic, storedUserTopic } from '../support/stored.ts';

const success = { status: 200 };
const invalid = { status: 400, body: { code: 'BAD_REQUEST', msg: 'Invalid message(s).' } };

describe('POST and DELETE /messages/{message_id}/reactions', () => {
  it('a reaction sends an event, is shown, and can be removed', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const client = await givenClient(realm, admin, { event_types: ['reaction'] });
    const id = await sendTo(realm, admin, realm.channels.general, 'hello');
    expect(await react(realm, member, id)).toMatchObject(success);
    expect(await reactionsTo(realm, admin, id)).toEqual([{ ...THUMB, user_id: member.userId }]);
    expect(await unreact(realm, member, id)).toMatchObject(success);
    expect(await reactionsTo(realm, admin, id)).toEqual([]);
    const event = { type: 'reaction', user_id: member.userId, message_id: id, ...THUMB };
    const events = await client.poll();
    expect(events.map(({ id, ...rest }) => rest)).toEqual([
      { ...event, op: 'add' },
      { ...event, op: 'remove' },
    ]);
  });

  it('the event of a message has no reactions, since each has an event of its own', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const client = await givenClient(realm, admin, { event_types: ['reaction', 'message'] });
    const id = await sendTo(realm, admin, realm.channels.general, 'hello');
    await react(realm, member, id);
    expect(await client.poll()).toMatchObject([{ message: { reactions: [] } }, { type: 'reaction' }]);
  });

  it('reacting twice is refused, by any name, and so is removing a missing reaction', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await sendTo(realm, admin, realm.channels.general, 'hello');
    await react(realm, member, id);
    const exists = { status: 400, body: { code: 'REACTION_ALREADY_EXISTS' } };
    expect(await react(realm, member, id)).toMatchObject(exists);
    expect(await react(realm, member, id, { emoji_name: 'thumbs_up' })).toMatchObject(exists);
    expect(await react(realm, admin, id, { emoji_name: 'thumbs_up' })).toMatchObject(success);
    // Later users join under the existing name.
    expect((await reactionsTo(realm, member, id)).map(({ emoji_name }) => emoji_name)).toEqual(['+1', '+1']);
    await unreact(realm, member, id);
    const missing = { status: 400, body: { code: 'REACTION_DOES_NOT_EXIST' } };
    expect(await unreact(realm, member, id)).toMatchObject(missing);
    expect(await unreact(realm, admin, id, { emoji_name: 'tada' })).toMatchObject(missing);
    expect(await reactionsTo(realm, member, id)).toMatchObject([{ user_id: admin.userId }]);
  });

  it('reactions are returned in the order in which they were added', async () => {
    const realm = await newRealm();
    const { member, admin, guest } = realm.people;
    const id = await sendTo(realm, admin, realm.channels.general, 'hello');
    await react(realm, member, id, { emoji_name: 'tada' });
    await react(realm, admin, id, { emoji_name: '+1' });
    await react(realm, guest, id, { emoji_name: 'tada' });
    await unreact(realm, member, id, { emoji_name: 'tada' });
    await react(realm, member, id, { emoji_name: 'heart' });
    const shown = (await reactionsTo(realm, admin, id)).map(({ emoji_name, user_id }) => [
      emoji_name,
      user_id,
    ]);
    expect(shown).toEqual([
      ['+1', admin.userId],
      ['tada', guest.userId],
      ['heart', member.userId],
    ]);
  });

  it.each<[string, object, object]>([
    ['a name alone', { emoji_name: 'heart' }, { emoji_code: '2764', reaction_type: 'unicode_emoji' }],
    ['a custom emoji', { emoji_name: 'party' }, { emoji_code: '1', reaction_type: 'realm_emoji' }],
    [
      'a custom emoji in full',
      { emoji_name: 'party', emoji_code: '1', reaction_type: 'realm_emoji' },
      { emoji_code: '1', reaction_type: 'realm_emoji' },
    ],
    ["Zulip's own", { emoji_name: 'zulip' }, { emoji_code: 'zulip', reaction_type: 'zulip_extra_emoji' }],
  ])('accepts %s', async (_, given, stored) => {
    const realm = await newRealm();
    await givenEmoji(realm, 'party');
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    expect(await react(realm, member, id, { ...given })).toMatchObject(success);
    expect(await reactionsTo(realm, member, id)).toMatchObject([stored]);
  });

  it.each<[string, object]>([
    ['no name', {}],
    ['an unknown name', { emoji_name: 'no_such_emoji' }],
    ['a name of another picture', { ...THUMB, emoji_name: 'tada' }],
    ['a code that does not go with the kind', { ...THUMB, reaction_type: 'realm_emoji' }],
    ['an unknown kind', { ...THUMB, reaction_type: 'sticker' }],
    [
      'the id of another custom emoji',
      { emoji_name: 'party', emoji_code: '2', reaction_type: 'realm_emoji' },
    ],
    ['a code of no sense', { emoji_name: '+1', emoji_code: '1f44d/17' }],
    [
      "a wrong code of Zulip's own",
      { emoji_name: 'zulip', emoji_code: 'x', reaction_type: 'zulip_extra_emoji' },
    ],
  ])('refuses %s and changes nothing', async (_, given) => {
    const realm = await newRealm();
    await givenEmoji(realm, 'party');
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    expect((await react(realm, member, id, { ...given })).status).toBe(400);
    expect(await reactionsTo(realm, member, id)).toEqual([]);
  });

  it('a deactivated emoji cannot be added again, but joined and removed', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    await givenEmoji(realm, 'party');
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    const other = await sendTo(realm, member, realm.channels.general, 'hello');
    const party = { emoji_name: 'party', emoji_code: '1', reaction_type: 'realm_emoji' };
    await react(realm, member, id, party);
    const gone = { delete: key('emojiName', { realm: realm.realm, name: 'party' }) };
    await realm.outside.table.transact([gone], realm.outside.uuid());
    expect((await react(realm, admin, other, party)).status).toBe(400);
    expect(await react(realm, admin, id, party)).toMatchObject(success);
    const { emoji_name, ...byCode } = party;
    expect(await unreact(realm, member, id, byCode)).toMatchObject(success);
    expect(await reactionsTo(realm, admin, id)).toMatchObject([{ user_id: admin.userId }]);
  });
});

describe('who made a reaction', () => {
  it('is hidden from guests who may not see them', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const { member, admin, guest } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [admin, guest]);
    const client = await givenClient(realm, guest, { event_types: ['reaction'] });
    const id = await sendTo(realm, admin, channelId, 'hello');
    const stranger = await givenUser(realm);
    await react(realm, stranger, id);
    await react(realm, admin, id);
    const events = await client.poll();
    expect(events.map(({ user_id }) => user_id)).toEqual([stranger.userId, admin.userId]);
    // Nothing but the ID of the one whom they may not know.
    expect(JSON.stringify(events)).not.toContain(stranger.email);
    for (const event of events) expect(event).not.toHaveProperty('user');
    expect(await reactionsTo(realm, member, id)).toHaveLength(2);
  });
});

describe('who may react', () => {
  it('hidden and missing messages are refused in the same words', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const secret = await givenChannel(realm, { isPrivate: true }, [admin]);
    const closed = await sendTo(realm, admin, secret.channelId, 'closed');
    const direct = await sendTo(realm, admin, [owner.userId], 'psst');
    for (const id of [closed, direct, closed + 1_000, realm.channels.general, 0, 2 ** 52]) {
      expect(await react(realm, member, id), `${id}`).toMatchObject(invalid);
      expect(await unreact(realm, member, id), `${id}`).toMatchObject(invalid);
    }
    expect(await react(realm, owner, direct)).toMatchObject(success);
    // No silent way in for who administers the organization.
    expect(await react(realm, owner, closed)).toMatchObject(invalid);
  });

  it('a subscriber may react to protected history only from the subscription on', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true, historyPublicToSubscribers: false }, [
      admin,
    ]);
    const before = await sendTo(realm, admin, channelId, 'before');
    await givenSubscription(realm, member, channelId);
    const after = await sendTo(realm, admin, channelId, 'after');
    expect(await react(realm, member, before)).toMatchObject(invalid);
    expect(await react(realm, member, after)).toMatchObject(success);
  });

  it('nobody may react in an archived channel', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const id = await sendTo(realm, member, channelId, 'hello');
    await react(realm, member, id);
    await givenChangedChannel(realm, channelId, { isArchived: true });
    expect((await react(realm, admin, id)).status).toBe(400);
    expect((await unreact(realm, member, id)).status).toBe(400);
    expect(await reactionsTo(realm, member, id)).toHaveLength(1);
  });
});

describe('reacting counts as participation', () => {
  it('in the topic, once for each user', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const id = await sendTo(realm, admin, general, 'hello');
    await react(realm, member, id);
    await react(realm, member, id, { emoji_name: 'tada' });
    await react(realm, admin, id);
    expect(await storedTopic(realm, general, 'hi')).toMatchObject({ participants: 2 });
    const client = await givenClient(realm, member, { event_types: ['message'] });
    await sendTo(realm, admin, general, '@**topic** look');
    expect((await client.poll())[0].flags).toContain('topic_wildcard_mentioned');
  });

  it("wire facts 3.10: and follows or unmutes the topic only if the user's settings say so for participation", async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [admin]);
    const policyWith = async (follow: number, unmute: number): Promise<number | undefined> => {
      const person = await givenUser(realm);
      await givenSubscription(realm, person, channelId);
      await givenMutedChannel(realm, person, channelId);
      await givenSettings(realm, person, {
        automatically_follow_topics_policy: follow,
        automatically_unmute_topics_in_muted_streams_policy: unmute,
      });
      const client = await givenClient(realm, person, { event_types: ['user_topic', 'reaction'] });
      const id = await sendTo(realm, admin, channelId, 'hello');
      await react(realm, person, id);
      const types = (await client.poll()).map(({ type }) => type);
      const stored = await storedUserTopic(realm, person, channelId, 'hi');
      expect(types).toEqual(stored ? ['user_topic', 'reaction'] : ['reaction']);
      return stored?.policy;
    };
    expect(await policyWith(1, 4)).toBe(visibility.followed);
    expect(await policyWith(2, 3)).toBeUndefined();
    expect(await policyWith(4, 1)).toBe(visibility.unmuted);
    expect(await policyWith(3, 2)).toBeUndefined();
  });
});

describe('two concurrent reactions', () => {
  it('of different users are both kept', async () => {
    const realm = await newRealm();
    const people: Person[] = [];
    for (let i = 0; i < 8; i++) people.push(await givenUser(realm));
    const { channelId } = await givenChannel(realm, {}, people);
    const id = await sendTo(realm, realm.people.admin, channelId, 'hello');
    const replies = await Promise.all(people.map((person) => react(realm.container(), person, id)));
    expect(replies.map(({ status }) => status)).toEqual(people.map(() => 200));
    expect(await reactionsTo(realm, realm.people.admin, id)).toHaveLength(8);
    expect(await storedTopic(realm, channelId, 'hi')).toMatchObject({ participants: 9 });
  });

  it('are stored in the order of their events, even if one is slow', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    let isFirst = true;
    const slow = realm.container(
      (store: Send): Send =>
        async (command) => {
          if (isFirst && /TransactWrite/.test(command.constructor.name)) {
            isFirst = false;
            await react(realm, member, id);
            await unreact(realm, member, id);
          }
          return store(command);
        },
    );
    expect(await react(slow, member, id)).toMatchObject(success);
    const told = await loggedAfter(realm, id);
    expect(told.map((entry) => entry.kind === 'event' && entry.payload.op)).toEqual(['add', 'remove', 'add']);
    expect(await reactionsTo(realm, member, id)).toHaveLength(1);
  });

  it('of one user are accepted once, and the log agrees with the store', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    const [first, second] = [realm.container(), realm.container()];
    for (let round = 0; round < 6; round++) {
      const twice = await Promise.all([first, second].map((each) => react(each, member, id)));
      expect(twice.map(({ status }) => status).sort()).toEqual([200, 400]);
      await Promise.all([unreact(first, member, id), react(second, member, id)]);
      const told = await loggedAfter(realm, id);
      const last = told.flatMap((entry) => (entry.kind === 'event' ? entry.payload.op : [])).at(-1);
      expect(await reactionsTo(realm, member, id)).toHaveLength(last === 'add' ? 1 : 0);
      if (last === 'add') await unreact(realm, member, id);
    }
  });
});
