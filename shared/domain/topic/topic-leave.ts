import { Stale } from '../../log/commit.ts';
import { key, partition, sortPrefix } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import type { ChannelCount } from '../channel/channel.ts';
import { type Ends, loadEnds, type Neighbour } from '../fetch/message-neighbours.ts';
import { folded } from '../folding.ts';
import { topicConversation } from '../message/conversation.ts';
import { type Topic, topicKey } from './topic.ts';

/** Messages of one topic that leave it together: they are deleted, or they go elsewhere. */
export interface Leaving {
  readonly channelId: number;
  readonly topic: string;
  readonly ids: readonly number[];
}

/** What keeps the topic and its channel right is decided by this. */
export interface LeavingState {
  readonly topic: Topic | undefined;
  readonly count: ChannelCount | undefined;
  readonly ends: Ends;
  /** Some of those who take part in the topic. */
  readonly participants: readonly number[];
}

/**
 * Participants that go in the transaction with which their topic vanishes; what is more goes before it. Beside them it has
 * room for twenty messages that go to another channel, two writes each, with fifteen people who come to take part there.
 */
export const MOST_PARTICIPANTS = 30;

/** Reads what decides about messages that leave, so many at most. One round trip. */
export async function loadLeaving(
  table: Table,
  realm: string,
  { channelId, topic }: Omit<Leaving, 'ids'>,
  leaving: number,
): Promise<LeavingState> {
  const conversation = topicConversation(channelId, topic);
  const [stored, count, ends, participants] = await Promise.all([
    table.get<Topic>(topicKey(realm, { channelId, topic })),
    table.get<ChannelCount>(key('channelCount', { realm, channelId })),
    loadEnds(table, realm, { conversation, channelId }, leaving),
    someParticipants(table, realm, channelId, topic),
  ]);
  return { topic: stored, count, ends, participants };
}

async function someParticipants(
  table: Table,
  realm: string,
  channelId: number,
  topic: string,
): Promise<number[]> {
  const { items } = await table.page<{ userId: number }>({
    pk: partition('participant', { realm, channelId }),
    prefix: sortPrefix('participant', { topic: folded(topic) }),
    limit: MOST_PARTICIPANTS + 1,
  });
  return items.map(({ userId }) => userId);
}

/** What happens to a topic and to the counts of its channel when messages leave. */
export interface Departure {
  readonly writes: readonly Write[];
  /** What is added to the number of named topics of the channel: -1 where one vanishes. */
  readonly namedTopics: number;
  /** Messages that the writes hold to be in the topic still. */
  readonly held: readonly number[];
}

/**
 * Keeps the topic right when messages leave it: with its last message it vanishes, and with it who took part.
 * Arrivals are counted, so what was seen of the ends can be held to: where a message arrived or left meanwhile, the
 * change is refused and decided again. `moving` is the job of the outbox in which others follow.
 */
export function doLeaveTopic(
  realm: string,
  { channelId, topic, ids }: Leaving,
  { topic: seen, ends, participants }: LeavingState,
  moving?: string,
): Departure {
  // The messages went elsewhere since they were read, and the topic with them.
  if (seen === undefined) throw new Stale([]);
  const at = topicKey(realm, { channelId, topic });
  const held = { arrived: seen.arrived, left: seen.left };
  if (seen.arrived - seen.left === ids.length) {
    // Whoever came to take part since then, by a reaction, would stay behind.
    const unjoined = { ...held, participants: seen.participants };
    return {
      writes: [
        { delete: at, when: { equals: unjoined } },
        ...participants.slice(0, MOST_PARTICIPANTS).map(
          (userId): Write => ({
            delete: key('participant', { realm, channelId, topic: folded(topic), userId }),
          }),
        ),
      ],
      namedTopics: topic === '' ? 0 : -1,
      held: [],
    };
  }
  const gone = new Set(ids);
  const [oldestGone, newestGone] = [gone.has(seen.minId), gone.has(seen.maxId)];
  const left = { left: ids.length };
  const mark = moving === undefined ? {} : { moving };
  if (!oldestGone && !newestGone) {
    const inside = { below: { minId: Math.min(...ids) }, above: { maxId: Math.max(...ids) } };
    return {
      writes: [{ update: at, change: { set: mark, add: left }, when: { absent: false, ...inside } }],
      namedTopics: 0,
      held: [],
    };
  }
  const stays = ({ id }: Neighbour): boolean => !gone.has(id);
  const oldest = oldestGone ? ends.oldest.find(stays) : undefined;
  const newest = newestGone ? ends.newest.find(stays) : undefined;
  const set = {
    ...(oldest && { minId: oldest.id }),
    ...(newest && { maxId: newest.id, topic: newest.topic ?? topic }),
    ...mark,
  };
  const kept = [...new Set([oldest, newest].flatMap((neighbour) => neighbour?.id ?? []))];
  const conversation = topicConversation(channelId, topic);
  return {
    writes: [
      { update: at, change: { set, add: left }, when: { equals: held } },
      ...kept.map(
        (seq): Write => ({
          check: key('slot', { realm, seq }),
          when: { equals: { kind: 'message', conversation } },
        }),
      ),
    ],
    namedTopics: 0,
    held: kept,
  };
}

/**
 * The message that is the oldest of the channel when these are gone, or null where there is none then; undefined where it
 * is the same as before.
 */
export function firstAfter({ ids }: Leaving, { count, ends }: LeavingState): number | null | undefined {
  if (count?.firstMessageId === undefined || !ids.includes(count.firstMessageId)) return undefined;
  return ends.first.find(({ id }) => !ids.includes(id))?.id ?? null;
}

/**
 * Keeps the oldest message and the number of named topics of a channel right when messages leave it. Which one is the
 * oldest is held to what was seen, even where it stays: at this moment one of those that leave may become it.
 */
export function doLeaveChannel(
  realm: string,
  leaving: Leaving,
  state: LeavingState,
  { namedTopics, held }: Departure,
): Write[] {
  const { channelId } = leaving;
  const update = key('channelCount', { realm, channelId });
  const add = namedTopics === 0 ? {} : { add: { namedTopics } };
  const when = { equals: { firstMessageId: state.count?.firstMessageId } };
  const first = firstAfter(leaving, state);
  if (first === undefined)
    return [namedTopics === 0 ? { check: update, when } : { update, change: add, when }];
  const kept = first === null || held.includes(first) ? [] : [first];
  // A message that nobody could see yet may be older than the one that was found.
  const unopened = { equals: { ...when.equals, opened: state.count?.opened } };
  return [
    ...kept.map(
      (seq): Write => ({
        check: key('slot', { realm, seq }),
        when: { equals: { kind: 'message', channelId } },
      }),
    ),
    {
      update,
      change:
        first === null ? { remove: ['firstMessageId'], ...add } : { set: { firstMessageId: first }, ...add },
      when: unopened,
    },
  ];
}

/**
 * Takes people out of a topic that is about to vanish, where they are too many for the transaction with which it
 * does, and tells what is left. Nobody misses them: the topic has no other message than those that leave. `ground` are
 * the checks on which it rests that they may leave at all.
 */
export async function thinOut(
  table: Table,
  realm: string,
  { channelId, topic, ids }: Leaving,
  state: LeavingState,
  uuid: () => string,
  ground: readonly Write[] = [],
): Promise<LeavingState> {
  let { topic: seen, participants } = state;
  if (seen === undefined || seen.arrived - seen.left !== ids.length) return state;
  const at = { realm, channelId, topic: folded(topic) };
  while (participants.length > MOST_PARTICIPANTS) {
    const held = { equals: { arrived: seen.arrived, left: seen.left, participants: seen.participants } };
    const add = { participants: -participants.length };
    const outcome = await table.transact(
      [
        ...ground,
        { update: topicKey(realm, { channelId, topic }), change: { add }, when: held },
        ...participants.map((userId): Write => ({ delete: key('participant', { ...at, userId }) })),
      ],
      uuid(),
    );
    // Somebody wrote to the topic at this moment, or the ground has changed, so it stays.
    if (outcome.state === 'refused') return state;
    seen = { ...seen, participants: seen.participants - participants.length };
    participants = await someParticipants(table, realm, channelId, topic);
  }
  return { ...state, topic: seen, participants };
}
