import { folded } from '../../kernel/folding.ts';
import type { Outside } from '../../kernel/outside.ts';
import { ConflictError } from '../../log/commit.ts';
import { key, LARGEST_NUMBER } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Changes, Write } from '../../table/write.ts';
import type { ChannelCount } from '../channel/channel.ts';
import { areNewer, forgetFirst, holdFirst } from '../channel/first-message.ts';
import { loadHeads, type MessageScope } from './load.ts';
import { topicConversation } from './message.ts';
import { currentIds, extents, loadRecentChanges, type RecentChanges } from './recent.ts';
import { type Topic, topicKey } from './topic.ts';

/** A message that may become the newest of its conversation when others leave. */
export interface NewestCandidate {
  readonly id: number;
  /** As it spells its topic. */
  readonly topic?: string;
}

/** How many messages beyond those that leave are looked at: an index may still show some that left before. */
const SPARE = 3;

/**
 * Some of the newest messages of a conversation, the newest first: at least one that stays when `leaving` of them
 * leave, if there is one. Whoever makes one of them the newest holds it to be still there. One round trip; another one
 * where `late` tells of a message that came below the newest one and is not among them.
 */
export async function loadNewest(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  place: MessageScope,
  leaving: number,
  stored: Promise<{ readonly late?: number } | undefined>,
  reading: Promise<RecentChanges> = loadRecentChanges(outside, realm, extents.write),
): Promise<readonly NewestCandidate[]> {
  const { table } = outside;
  const reach = currentIds(table, realm, place, () => reading);
  const page = (to: number) => reach({ from: 0, to, side: 'older', limit: leaving + SPARE });
  const [first, changes, conversation] = await Promise.all([page(LARGEST_NUMBER), reading, stored]);
  const all: NewestCandidate[] = [];
  for (let { found, until } = first; ; { found, until } = await page(until - 1)) {
    all.push(...found);
    if (until === undefined || until <= 1 || all.length > leaving) break;
  }
  const newest = all.sort((a, b) => b.id - a.id);
  const late = conversation?.late;
  const isSeen = late === undefined || changes.has(late) || newest.some(({ id }) => id === late);
  if (isSeen || late < (newest.at(leaving)?.id ?? 0)) return newest;
  const more = (await loadHeads(table, realm, [late])).filter(
    (head) => head.conversation === place.conversation,
  );
  return [...newest, ...more].sort((a, b) => b.id - a.id);
}

/** Messages of one topic that leave it together: they are deleted, or they go elsewhere. */
export interface TopicRemoval {
  readonly channelId: number;
  readonly topic: string;
  readonly ids: readonly number[];
}

/** What keeps the topic and its channel right is decided by this. */
export interface TopicRemovalSnapshot {
  readonly topic: Topic | undefined;
  readonly count: ChannelCount | undefined;
  /** Some of the newest messages of the topic, the newest first. */
  readonly newest: readonly NewestCandidate[];
  /** Some of those who take part in the topic. */
  readonly participants: readonly number[];
}

/**
 * Participants that go in the transaction with which their topic vanishes; what is more goes before it. Beside them it has
 * room for twenty messages that go to another channel, two writes each, with fifteen people who come to take part there.
 */
export const MAX_PARTICIPANTS = 30;

/** Reads what decides about messages that leave, so many at most. One round trip, seldom two. */
export async function loadTopicRemoval(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  { channelId, topic }: Omit<TopicRemoval, 'ids'>,
  leaving: number,
  recent?: Promise<RecentChanges>,
): Promise<TopicRemovalSnapshot> {
  const { table } = outside;
  const place = { channelId, conversation: topicConversation(channelId, topic) };
  const reading = table.get(topicKey(realm, { channelId, topic }));
  const [stored, count, newest, participants] = await Promise.all([
    reading,
    table.get('channelCount', { realm, channelId }),
    loadNewest(outside, realm, place, leaving, reading, recent),
    someParticipants(table, realm, channelId, topic),
  ]);
  return { topic: stored, count, newest, participants };
}

async function someParticipants(
  table: Table,
  realm: string,
  channelId: number,
  topic: string,
): Promise<number[]> {
  const { items } = await table.page(
    'participant',
    { realm, channelId, topic: folded(topic) },
    { limit: MAX_PARTICIPANTS + 1 },
  );
  return items.map(({ userId }) => userId);
}

/** What happens to a topic and to the counts of its channel when messages leave. */
export interface TopicRemovalWrites {
  readonly writes: readonly Write[];
  /** What is added to the number of named topics of the channel: -1 where one vanishes. */
  readonly namedTopics: number;
}

/** A conversation that messages leave, and the message that is its newest one then, where its newest one leaves. */
export interface AfterRemoval<C> {
  readonly seen: C;
  readonly next?: NewestCandidate;
}

/**
 * Decides what becomes of a topic or a direct conversation when messages leave it.
 *
 * @throws ConflictError where it is gone, and the messages with it, or where a message came after the log was read
 */
export function checkRemoval<
  C extends { readonly arrived: number; readonly left: number; readonly maxId: number },
>(ids: readonly number[], seen: C | undefined, newest: readonly NewestCandidate[]): AfterRemoval<C> {
  if (seen === undefined) throw new ConflictError([]);
  const vanishes = seen.arrived - seen.left === ids.length;
  if (vanishes || Math.max(...ids) < seen.maxId) return { seen };
  const next = newest.find(({ id }) => !ids.includes(id));
  if (next === undefined) throw new ConflictError([]);
  return { seen, next };
}

/**
 * Keeps the topic right when messages leave it: with its last message it vanishes, and with it who took part. Where its
 * newest one leaves, arrivals and departures are held to what was seen: if there was one meanwhile, the change is
 * refused and decided again. `moving` is the job of the outbox in which others follow.
 */
export function doRemoveFromTopic(
  realm: string,
  { channelId, topic, ids }: TopicRemoval,
  { seen, next }: AfterRemoval<Topic>,
  participants: readonly number[],
  moving?: string,
): TopicRemovalWrites {
  const at = topicKey(realm, { channelId, topic });
  const held = { arrived: seen.arrived, left: seen.left };
  if (seen.arrived - seen.left === ids.length) {
    // Whoever came to take part since then, by a reaction, would stay behind.
    const unjoined = { ...held, participants: seen.participants };
    return {
      writes: [
        { delete: at, when: { equals: unjoined } },
        ...participants.slice(0, MAX_PARTICIPANTS).map(
          (userId): Write => ({
            delete: key('participant', { realm, channelId, topic: folded(topic), userId }),
          }),
        ),
      ],
      namedTopics: topic === '' ? 0 : -1,
    };
  }
  const change: Changes = {
    ...(moving !== undefined && { set: { moving } }),
    ...(seen.late !== undefined && ids.includes(seen.late) && { remove: ['late'] }),
    add: { left: ids.length },
  };
  if (next === undefined) {
    const when = { absent: false, above: { maxId: Math.max(...ids) } };
    return { writes: [{ update: at, change, when }], namedTopics: 0 };
  }
  const set = { ...change.set, maxId: next.id, topic: next.topic ?? topic };
  const conversation = topicConversation(channelId, topic);
  return {
    writes: [
      { update: at, change: { ...change, set }, when: { equals: held } },
      {
        check: key('slot', { realm, seq: next.id }),
        when: { equals: { kind: 'message', conversation } },
      },
    ],
    namedTopics: 0,
  };
}

/**
 * Keeps the counts of a channel right when messages leave it, and forgets its oldest message if that may be one of
 * them.
 *
 * @param number of the log, of the transaction with which they leave
 */
export function doRemoveFromChannel(
  realm: string,
  { channelId, ids }: TopicRemoval,
  { count }: TopicRemovalSnapshot,
  { namedTopics }: TopicRemovalWrites,
  number: number,
): Write {
  const change = namedTopics === 0 ? {} : { add: { namedTopics } };
  const counts = { realm, channelId, change };
  return areNewer(count, ids) ? holdFirst(counts, count) : forgetFirst(counts, number);
}

/**
 * Takes people out of a topic that is about to vanish, where they are too many for the transaction with which it
 * does, and tells what is left. Nobody misses them: the topic has no other message than those that leave. `snapshot` are
 * the checks on which it rests that they may leave at all.
 */
export async function pruneParticipants(
  table: Table,
  realm: string,
  { channelId, topic, ids }: TopicRemoval,
  state: TopicRemovalSnapshot,
  uuid: () => string,
  snapshot: readonly Write[] = [],
): Promise<TopicRemovalSnapshot> {
  let { topic: seen, participants } = state;
  if (seen === undefined || seen.arrived - seen.left !== ids.length) return state;
  const at = { realm, channelId, topic: folded(topic) };
  while (participants.length > MAX_PARTICIPANTS) {
    const held = { equals: { arrived: seen.arrived, left: seen.left, participants: seen.participants } };
    const add = { participants: -participants.length };
    const outcome = await table.transact(
      [
        ...snapshot,
        { update: topicKey(realm, { channelId, topic }), change: { add }, when: held },
        ...participants.map((userId): Write => ({ delete: key('participant', { ...at, userId }) })),
      ],
      uuid(),
    );
    // Somebody wrote to the topic at this moment, or the snapshot has changed, so it stays.
    if (outcome.state === 'refused') return state;
    seen = { ...seen, participants: seen.participants - participants.length };
    participants = await someParticipants(table, realm, channelId, topic);
  }
  return { ...state, topic: seen, participants };
}
