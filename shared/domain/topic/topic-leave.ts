import { Stale } from '../../log/commit.ts';
import { type Key, key, partition, sortPrefix } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import type { ChannelCount } from '../channel/channel.ts';
import { type Ends, loadEnds, type Neighbour } from '../fetch/message-neighbours.ts';
import { folded } from '../folding.ts';
import { topicConversation } from '../message/conversation.ts';
import type { Topic } from './topic.ts';

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

/** Participants that go in the transaction with which their topic vanishes; what is more goes before it. */
const MOST_PARTICIPANTS = 50;

/** Reads what decides about messages that leave. One round trip. */
export async function loadLeaving(
  table: Table,
  realm: string,
  { channelId, topic, ids }: Leaving,
): Promise<LeavingState> {
  const conversation = topicConversation(channelId, topic);
  const [stored, count, ends, participants] = await Promise.all([
    table.get<Topic>(topicKey(realm, channelId, topic)),
    table.get<ChannelCount>(key('channelCount', { realm, channelId })),
    loadEnds(table, realm, { conversation, channelId }, ids.length),
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

const topicKey = (realm: string, channelId: number, topic: string): Key =>
  key('topic', { realm, channelId, topic: folded(topic) });

/** What happens to a topic and to the counts of its channel when messages leave. */
export interface Departure {
  readonly writes: readonly Write[];
  /** What is added to the number of named topics of the channel: -1 where one vanishes. */
  readonly namedTopics: number;
}

/**
 * Keeps the topic right when messages leave it: with its last message it vanishes, and with it who took part.
 * Arrivals are counted, so what was seen of the ends can be held to: where a message arrived or left meanwhile, the
 * change is refused and decided again.
 */
export function doLeaveTopic(
  realm: string,
  { channelId, topic, ids }: Leaving,
  { topic: seen, ends, participants }: LeavingState,
): Departure {
  // The messages went elsewhere since they were read, and the topic with them.
  if (seen === undefined) throw new Stale([]);
  const at = topicKey(realm, channelId, topic);
  const held = { arrived: seen.arrived, left: seen.left };
  if (seen.arrived - seen.left === ids.length) {
    return {
      writes: [
        { delete: at, when: { equals: held } },
        ...participants.slice(0, MOST_PARTICIPANTS).map(
          (userId): Write => ({
            delete: key('participant', { realm, channelId, topic: folded(topic), userId }),
          }),
        ),
      ],
      namedTopics: topic === '' ? 0 : -1,
    };
  }
  const gone = new Set(ids);
  const [oldestGone, newestGone] = [gone.has(seen.minId), gone.has(seen.maxId)];
  const left = { left: ids.length };
  if (!oldestGone && !newestGone) {
    const inside = { below: { minId: Math.min(...ids) }, above: { maxId: Math.max(...ids) } };
    return {
      writes: [{ update: at, change: { add: left }, when: { absent: false, ...inside } }],
      namedTopics: 0,
    };
  }
  const stays = ({ id }: Neighbour): boolean => !gone.has(id);
  const oldest = oldestGone ? ends.oldest.find(stays) : undefined;
  const newest = newestGone ? ends.newest.find(stays) : undefined;
  const set = {
    ...(oldest && { minId: oldest.id }),
    ...(newest && { maxId: newest.id, topic: newest.topic ?? topic }),
  };
  const kept = new Set([oldest, newest].flatMap((neighbour) => neighbour?.id ?? []));
  const conversation = topicConversation(channelId, topic);
  return {
    writes: [
      { update: at, change: { set, add: left }, when: { equals: held } },
      ...[...kept].map(
        (seq): Write => ({
          check: key('slot', { realm, seq }),
          when: { equals: { kind: 'message', conversation } },
        }),
      ),
    ],
    namedTopics: 0,
  };
}

/** Keeps the oldest message and the number of named topics of a channel right when messages leave it. */
export function doLeaveChannel(
  realm: string,
  { channelId, ids }: Leaving,
  { count, ends }: LeavingState,
  namedTopics: number,
): Write[] {
  const update = key('channelCount', { realm, channelId });
  const add = namedTopics === 0 ? {} : { add: { namedTopics } };
  const gone = new Set(ids);
  if (count?.firstMessageId === undefined || !gone.has(count.firstMessageId)) {
    return namedTopics === 0 ? [] : [{ update, change: add }];
  }
  const first = ends.first.find(({ id }) => !gone.has(id));
  return [
    {
      update,
      change:
        first === undefined
          ? { remove: ['firstMessageId'], ...add }
          : { set: { firstMessageId: first.id }, ...add },
      when: { equals: { firstMessageId: count.firstMessageId } },
    },
  ];
}

/**
 * Takes people out of a topic that is about to vanish, where they are too many for the transaction with which it
 * does, and tells what is left. Nobody misses them: the topic has no other message than those that leave.
 */
export async function thinOut(
  table: Table,
  realm: string,
  { channelId, topic, ids }: Leaving,
  state: LeavingState,
  uuid: () => string,
): Promise<LeavingState> {
  const { topic: seen } = state;
  if (seen === undefined || seen.arrived - seen.left !== ids.length) return state;
  const at = { realm, channelId, topic: folded(topic) };
  let { participants } = state;
  while (participants.length > MOST_PARTICIPANTS) {
    const held = { equals: { arrived: seen.arrived, left: seen.left } };
    const add = { participants: -participants.length };
    const outcome = await table.transact(
      [
        { update: topicKey(realm, channelId, topic), change: { add }, when: held },
        ...participants.map((userId): Write => ({ delete: key('participant', { ...at, userId }) })),
      ],
      uuid(),
    );
    // Somebody wrote to the topic at this moment, so it stays.
    if (outcome.state === 'refused') return state;
    participants = await someParticipants(table, realm, channelId, topic);
  }
  return { ...state, participants };
}
