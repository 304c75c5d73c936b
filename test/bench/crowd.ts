import { handler as register } from '../../functions/events/register.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as updateFlags } from '../../functions/messages/updateFlags.ts';
import { MAX_QUEUES, newQueue } from '../../shared/domain/event/queue.ts';
import { presenceKey, pulseKey, seconds, slotOf, withExpiry } from '../../shared/domain/presence/presence.ts';
import type { Group } from '../../shared/model/group/group.ts';
import { onlyUser, roles, systemGroups } from '../../shared/model/permission/permission.ts';
import { type Key, key } from '../../shared/table/keys.ts';
import { tableClient } from '../../shared/table/protocol.ts';
import type { Send } from '../../shared/table/table.ts';
import { givenChannel, givenCount, givenGraph } from '../support/given.ts';
import { givenHistory } from '../support/long-history.ts';
import { givenLoggedReactions } from '../support/reactions.ts';
import type { TestRealm } from '../support/realm.ts';
import { TABLE } from '../support/store.ts';
import { BatchWriteCommand } from '../support/store-commands.ts';

/*
 * Much of one kind, put straight into the table as the endpoints would have left it.
 */

/** Items of one request, and requests at once. */
const BATCH = 25;
const LANES = 4;

/** Milliseconds after which requests no longer read what the log had at its end. */
const LONG_AGO = 600_000;

/** Numbers from here on belong to nobody else. */
const FIRST = 500_000_000;

interface Stored {
  readonly at: Key;
  readonly item: object;
}

const storeOf = ({ outside }: TestRealm): Send => tableClient(outside.environment);

async function putAll(realm: TestRealm, all: readonly Stored[]): Promise<void> {
  const store = storeOf(realm);
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < all.length) {
      const batch = all.slice(next, next + BATCH);
      next += BATCH;
      const puts = batch.map(({ at, item }) => ({ PutRequest: { Item: { ...at, ...item } } }));
      await store(new BatchWriteCommand({ RequestItems: { [TABLE]: puts } }));
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** So many more subscribers of `general`, who have no accounts. */
async function subscribers(given: TestRealm, count: number): Promise<void> {
  const { realm, channels } = given;
  const channelId = channels.general;
  await putAll(
    given,
    times(count, (i) => ({
      at: key('subscriber', { realm, channelId, userId: FIRST + i }),
      item: { userId: FIRST + i },
    })),
  );
  await givenCount(given, channelId, { subscribers: count });
}

/** So many more accounts. */
const members = (given: TestRealm, count: number): Promise<void> =>
  putAll(
    given,
    times(count, (i) => ({
      at: key('user', { realm: given.realm, userId: FIRST + i }),
      item: {
        userId: FIRST + i,
        email: `firstname.lastname${i}@department.example.com`,
        fullName: `Firstname Lastname (${i})`,
        role: roles.member,
        isActive: true,
        isBot: false,
        dateJoined: '2026-01-01T00:00:00.000Z',
        avatarVersion: 1,
        timezone: 'America/Argentina/Buenos_Aires',
      },
    })),
  );

/** So many more public channels. The member is subscribed to all of them. */
async function channels(given: TestRealm, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await givenChannel(given, { description: `What there is to say about thing ${i}.` }, [
      given.people.member,
    ]);
  }
  given.pass(LONG_AGO);
}

/** The topic whose only message has the reactions. */
export const REACTED_TOPIC = 'so many reactions';

/** So many reactions of strangers to one message. */
async function reactions(given: TestRealm, count: number): Promise<void> {
  const message = { type: 'channel', to: 'general', topic: REACTED_TOPIC, content: 'Hooray!' };
  const { status, body } = await given.call(send, given.people.owner, message);
  if (status !== 200) throw new Error('there is no message to react to');
  await givenLoggedReactions(given, body.id, count);
}

/** So many custom emoji. */
const emoji = ({ realm, ...rest }: TestRealm, count: number): Promise<void> =>
  putAll(
    { realm, ...rest },
    times(count, (i) => {
      const [emojiId, name] = [FIRST + i, `party${i}`];
      const sourceUrl = `/user_avatars/${realm}/emoji/images/${'0'.repeat(32)}${i}.png`;
      const item = { emojiId, name, authorId: 1, sourceUrl, stillUrl: null, deactivated: false };
      return [
        { at: key('emoji', { realm, emojiId }), item },
        { at: key('emojiName', { realm, name }), item: { emojiId, sourceUrl } },
      ];
    }).flat(),
  );

/** So many queues, first the admin's, as of clients that wait for everything. */
async function queues(given: TestRealm, count: number): Promise<void> {
  const { realm, outside, people } = given;
  const start = (await outside.table.get('counter', { realm }))?.seq ?? 0;
  const listening = { narrow: [], allPublicChannels: false, applyMarkdown: true, clientGravatar: true };
  await putAll(
    given,
    times(count, (i) => {
      const queueId = `queue:${i}`;
      const userId = people.admin.userId + Math.floor(i / MAX_QUEUES);
      const about = { queueId, userId, start, idle: 600 };
      const queue = newQueue(
        { ...about, ...listening, includeSubscribers: false, capabilities: [] },
        outside.now(),
      );
      return { at: key('queue', { realm, userId, slot: i % MAX_QUEUES }), item: { ...queue } };
    }),
  );
}

/** So many groups, each in the one before it, ten groups deep; the member is in the innermost ones. */
async function nestedGroups(given: TestRealm, count: number): Promise<void> {
  const { realm, people } = given;
  const creatorId = people.owner.userId;
  const { everyone, nobody } = systemGroups;
  const groupOf = (groupId: number, name: string): Group => ({
    groupId,
    name,
    description: '',
    creatorId,
    dateCreated: 1_767_258_000,
    deactivated: false,
    settings: {
      can_add_members_group: onlyUser(creatorId),
      can_join_group: nobody.id,
      can_leave_group: everyone.id,
      can_manage_group: onlyUser(creatorId),
      can_mention_group: everyone.id,
      can_remove_members_group: nobody.id,
    },
    version: 1,
  });
  await putAll(
    given,
    times(count, (i) => {
      const [groupId, name] = [FIRST + i, `nested ${i}`];
      return [
        { at: key('group', { realm, groupId }), item: groupOf(groupId, name) },
        { at: key('groupName', { realm, name }), item: { groupId } },
      ];
    }).flat(),
  );
  const inner = times(count, (i) => i).filter((i) => i % 10 !== 9 && i + 1 < count);
  const edges = Object.fromEntries(inner.map((i) => [FIRST + i, [FIRST + i + 1]]));
  await givenGraph(given, { edges });
  const { userId } = people.member;
  const groupId = FIRST + Math.min(9, count - 1);
  await putAll(given, [
    { at: key('membership', { realm, userId, groupId }), item: { userId, groupId } },
    { at: key('member', { realm, groupId, userId }), item: { userId, groupId } },
  ]);
}

/** So many more members, whose clients have just pinged. */
async function peopleOnline(given: TestRealm, count: number): Promise<void> {
  const { realm, outside } = given;
  const now = seconds(outside.now());
  await members(given, count);
  await putAll(
    given,
    times(count, (i) => {
      const userId = FIRST + i;
      const presence = { userId, at: now, active: now, idle: now };
      return [
        { at: pulseKey(realm, slotOf(now), userId), item: withExpiry('pulse', presence) },
        { at: presenceKey(realm, userId), item: withExpiry('presence', presence) },
      ];
    }).flat(),
  );
}

/** So many messages of the owner in fifty topics of `general`, every tenth one to the admin. */
function unreadMessages(given: TestRealm, count: number): Promise<readonly number[]> {
  const { owner, admin } = given.people;
  const textOf = (i: number) => ({ content: `Message ${i}.`, rendered: `<p>Message ${i}.</p>` });
  return givenHistory({ ...given, people: { member: owner, admin } }, storeOf(given), count, textOf);
}

/** Messages that are marked as read by one request. */
const READ_AT_ONCE = 1_000;

/** Messages over which one registration raises what counts as read by itself. */
const RAISED_AT_ONCE = 4_000;

/** The same, which the member read a while ago, and has registered since. */
async function messages(given: TestRealm, count: number): Promise<void> {
  const { member } = given.people;
  const ids = await unreadMessages(given, count);
  for (let start = 0; start < count; start += READ_AT_ONCE) {
    const parameters = { messages: ids.slice(start, start + READ_AT_ONCE), op: 'add', flag: 'read' };
    const { status } = await given.call(updateFlags, member, parameters);
    if (status !== 200) throw new Error('the messages were not read');
  }
  given.pass(LONG_AGO);
  for (let raised = 0; raised <= count; raised += RAISED_AT_ONCE) {
    const { status } = await given.call(register, member, { fetch_event_types: ['update_message_flags'] });
    if (status !== 200) throw new Error('nobody could register');
  }
}

/** What there may be much of, and how it comes about. */
export const crowds = {
  subscribers,
  members,
  'people online': peopleOnline,
  channels,
  reactions,
  emoji,
  queues,
  'nested groups': nestedGroups,
  messages,
  'unread messages': unreadMessages,
} as const;

export type CrowdName = keyof typeof crowds;
