import type { Outside } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import { ConflictError } from '../../log/commit.ts';
import { type Key, key, LARGEST_NUMBER } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Changes, Write } from '../../table/write.ts';
import type { ChannelCount } from '../channel/channel.ts';
import type { TopicsChange } from '../channel/first-message.ts';
import { loadHeads, type MessageScope } from './load.ts';
import { topicConversation } from './message.ts';
import { currentIds, extents, loadRecentChanges, type RecentChanges } from './recent.ts';
import { type Topic, topicKey } from './topic.ts';

/** A message that may become the newest of its conversation when others are removed. */
export interface NewestCandidate {
  readonly id: number;
  /** As it spells its topic. */
  readonly topic?: string;
}

/** Spare messages to read, since the index may still show some that were removed before. */
const SPARE = 3;

/**
 * Some of the newest messages of a conversation, newest first: at least one that remains when `leaving` of them are
 * removed, if there is one. A write that makes one of them the newest must check that it still exists. One round trip;
 * two if the `late` message of the conversation is not among them.
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
  const read = currentIds(table, realm, place, () => reading);
  const page = (to: number) => read({ from: 0, to, side: 'older', limit: leaving + SPARE });
  const [first, changes, conversation] = await Promise.all([page(LARGEST_NUMBER), reading, stored]);
  const all: NewestCandidate[] = [];
  for (let { heads, until } = first; ; { heads, until } = await page(until - 1)) {
    all.push(...heads);
    if (until === undefined || until <= 1 || all.length > leaving) break;
  }
  const newest = all.sort((a, b) => b.id - a.id);
  const late = conversation?.late;
  const isIncluded = late === undefined || changes.has(late) || newest.some(({ id }) => id === late);
  if (isIncluded || late < (newest.at(leaving)?.id ?? 0)) return newest;
  const more = (await loadHeads(table, realm, [late])).filter(
    (head) => head.conversation === place.conversation,
  );
  return [...newest, ...more].sort((a, b) => b.id - a.id);
}

/** Messages of one topic that are deleted or moved together. */
export interface TopicRemoval {
  readonly channelId: number;
  readonly topic: string;
  readonly ids: readonly number[];
}

/** The state of the topic and its channel before messages are removed. */
export interface TopicRemovalSnapshot {
  readonly topic: Topic | undefined;
  readonly count: ChannelCount | undefined;
  /** Some of the newest messages of the topic, newest first. */
  readonly newest: readonly NewestCandidate[];
  /** The first participants of the topic. */
  readonly participants: readonly number[];
}

/**
 * Participants that are deleted in one transaction with their topic; the others are deleted before. It leaves room for
 * twenty messages that move to another channel, two writes each, and fifteen new participants there.
 */
export const MAX_PARTICIPANTS = 30;

/** Loads the state before at most `leaving` messages are removed. One round trip, seldom two. */
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

/** What topics and direct conversations have in common. */
type Counted = Pick<Topic, 'arrived' | 'left' | 'maxId' | 'late'>;

/** Whether a topic or direct conversation is deleted, because these are all its messages. */
export const vanishes = (
  { arrived, left }: Pick<Counted, 'arrived' | 'left'>,
  ids: readonly number[],
): boolean => arrived - left === ids.length;

/** The stored conversation, and its next newest message if the newest one is removed. */
export interface AfterRemoval<C> {
  readonly seen: C;
  readonly next?: NewestCandidate | undefined;
}

/**
 * Finds the next newest message of a topic or direct conversation when messages are removed from it.
 *
 * @throws ConflictError if the conversation no longer exists, or has a message from after the log was read
 */
export function checkRemoval<C extends Counted>(
  ids: readonly number[],
  seen: C | undefined,
  newest: readonly NewestCandidate[],
): AfterRemoval<C> {
  if (seen === undefined) throw new ConflictError([]);
  if (vanishes(seen, ids) || Math.max(...ids) < seen.maxId) return { seen };
  const next = newest.find(({ id }) => !ids.includes(id));
  if (next === undefined) throw new ConflictError([]);
  return { seen, next };
}

/**
 * Updates a conversation that keeps some messages. If its newest one is removed, the write fails if any other message was
 * added or removed since the read.
 */
export function removalWrites(
  realm: string,
  update: Key,
  { conversation, ids }: { readonly conversation: string; readonly ids: readonly number[] },
  { seen, next }: AfterRemoval<Counted>,
  set: object = {},
): Write[] {
  const change: Changes = {
    set: { ...set, ...(next && { maxId: next.id }) },
    ...(seen.late !== undefined && ids.includes(seen.late) && { remove: ['late'] }),
    add: { left: ids.length },
  };
  if (next === undefined) {
    return [{ update, change, when: { absent: false, above: { maxId: Math.max(...ids) } } }];
  }
  return [
    { update, change, when: { equals: { arrived: seen.arrived, left: seen.left } } },
    { check: key('slot', { realm, seq: next.id }), when: { equals: { kind: 'message', conversation } } },
  ];
}

/**
 * Updates the topic from which messages are removed. The topic and its participants are deleted with its last message.
 * `moving` is the outbox job that moves the remaining messages.
 */
export function doRemoveFromTopic(
  realm: string,
  { channelId, topic, ids }: TopicRemoval,
  { seen, next }: AfterRemoval<Topic>,
  participants: readonly number[],
  moving?: string,
): Write[] {
  const at = topicKey(realm, { channelId, topic });
  if (!vanishes(seen, ids)) {
    const set = { ...(moving !== undefined && { moving }), ...(next && { topic: next.topic ?? topic }) };
    return removalWrites(
      realm,
      at,
      { conversation: topicConversation(channelId, topic), ids },
      { seen, next },
      set,
    );
  }
  // A participant who was added since the read, by a reaction, would not be deleted.
  const unchanged = { arrived: seen.arrived, left: seen.left, participants: seen.participants };
  const place = { realm, channelId, topic: folded(topic) };
  return [
    { delete: at, when: { equals: unchanged } },
    ...participants
      .slice(0, MAX_PARTICIPANTS)
      .map((userId): Write => ({ delete: key('participant', { ...place, userId }) })),
  ];
}

/** The change of the counts of a channel when messages are removed: a named topic is deleted with its last message. */
export const topicsAfter = (
  { channelId, topic, ids }: TopicRemoval,
  seen: Topic | undefined,
): TopicsChange => ({
  channelId,
  namedTopics: topic !== '' && seen !== undefined && vanishes(seen, ids) ? -1 : 0,
});

/**
 * Deletes participants of a topic that is about to be deleted, if they are too many for one transaction. Returns the
 * remaining state. `checks` are the conditions under which the messages may be removed.
 */
export async function pruneParticipants(
  table: Table,
  realm: string,
  { channelId, topic, ids }: TopicRemoval,
  state: TopicRemovalSnapshot,
  uuid: () => string,
  checks: readonly Write[] = [],
): Promise<TopicRemovalSnapshot> {
  let { topic: seen, participants } = state;
  if (seen === undefined || !vanishes(seen, ids)) return state;
  const at = { realm, channelId, topic: folded(topic) };
  while (participants.length > MAX_PARTICIPANTS) {
    const held = { equals: { arrived: seen.arrived, left: seen.left, participants: seen.participants } };
    const add = { participants: -participants.length };
    const outcome = await table.transact(
      [
        ...checks,
        { update: topicKey(realm, { channelId, topic }), change: { add }, when: held },
        ...participants.map((userId): Write => ({ delete: key('participant', { ...at, userId }) })),
      ],
      uuid(),
    );
    // A message was sent to the topic, or a check failed: it stays.
    if (outcome.state === 'refused') return state;
    seen = { ...seen, participants: seen.participants - participants.length };
    participants = await someParticipants(table, realm, channelId, topic);
  }
  return { ...state, topic: seen, participants };
}
