import { isDeepStrictEqual } from 'node:util';
import type { Outside } from '../../kernel/outside.ts';
import type { MessageHead } from '../../log/message.ts';
import type { Subscription } from '../../model/channel/channel.ts';
import type { MessageScope } from '../../model/message/load.ts';
import { isMentioned } from '../../model/message/message.ts';
import { compactReadState, type ReadState } from '../../model/message/read-state.ts';
import type { Standing } from '../../model/permission/permission.ts';
import { EMPTY_TOPIC_NAME } from '../../model/realm/realm.ts';
import { LARGEST_NUMBER } from '../../table/keys.ts';
import { mergeStreams } from '../reader/merge-streams.ts';
import { isMuted } from '../reader/muting.ts';
import type { Reader } from '../reader/reader.ts';
import {
  aboveReadFloor,
  listedStream,
  type MessageStream,
  type PlaceStream,
  placeCache,
  unreadAmong,
} from '../reader/streams.ts';
import { raiseFloor } from './read-floor.ts';

/** Most unread messages of a reply, the newest ones; clients expect no more. */
export const MAX_UNREAD = 5_000;

/** An unread message, with what its serialization depends on. */
interface UnreadMessage extends MessageHead {
  /** Its topic is muted, or its channel is and the topic has no policy of its own. */
  readonly isMuted: boolean;
  /** The reader takes part in the topic. Only set if the message mentions the topic. */
  readonly takesPart: boolean;
}

/** The unread messages of a user. */
export interface Unread {
  /** Newest first. */
  readonly messages: readonly UnreadMessage[];
  /** There may be older unread messages. */
  readonly missing: boolean;
  /**
   * Raises read floors that have many read messages above them, so that the next search is short. The reply does not
   * need it: run it in parallel with other writes. Losing a race is no error.
   */
  readonly upkeep: () => Promise<void>;
}

/**
 * Finds the unread messages of a user, for `unread_msgs` of the registration. Two round trips: their subscriptions,
 * conversations and read states, then the messages above their read floors (a third one if there are very many, or if
 * a topic is mentioned). The work grows with the unread messages, not with all messages.
 *
 * `earlier` has done the first of them before. Unless that has changed since, one round trip is enough.
 */
export async function loadUnread(
  outside: Pick<Outside, 'table' | 'now' | 'uuid'>,
  reader: Reader,
  earlier?: Reader,
): Promise<Unread> {
  const expected = earlier && findUnread(outside, earlier);
  // Ignore failures of a speculative read.
  expected?.catch(() => {});
  const snapshot = await loadSnapshot(reader);
  const isAsExpected = earlier !== undefined && isDeepStrictEqual(snapshot, await loadSnapshot(earlier));
  return expected !== undefined && isAsExpected ? expected : findUnread(outside, reader);
}

/** Reads what decides where unread messages can be. */
const loadSnapshot = (reader: Reader) =>
  Promise.all([
    reader.subscriptions(),
    reader.directMemberships(),
    reader.states(),
    reader.topicPolicies(),
    reader.self(),
  ]);

/** The messages of a channel or conversation that the reader received. */
const streamOf = (reader: Reader, place: MessageScope, above: number): PlaceStream => ({
  place,
  cache: placeCache(reader, place),
  above,
});

async function findUnread(outside: Pick<Outside, 'table' | 'now' | 'uuid'>, reader: Reader): Promise<Unread> {
  const [subscriptions, memberships, states] = await loadSnapshot(reader);
  const channels = await aboveReadFloors(
    reader,
    [...subscriptions.values()].map((subscription) => {
      const { channelId, since } = subscription;
      return { ...streamOf(reader, { channelId }, since), subscription };
    }),
  );
  const directs = await aboveReadFloors(
    reader,
    memberships.map(({ conversation, people }) => ({
      ...streamOf(reader, { conversation, people }, 0),
      conversation,
    })),
  );
  const found = await mergeStreams({
    streams: [...channels, ...directs, listedStream(reader, listedUnread(states, subscriptions))],
    side: 'older',
    from: LARGEST_NUMBER + 1,
    need: MAX_UNREAD + 1,
    keep: unreadAmong(reader),
    mayRead: true,
  });
  return {
    messages: await described(reader, found.heads.slice(0, MAX_UNREAD)),
    missing: !found.isComplete || found.heads.length > MAX_UNREAD,
    upkeep: async () => {
      const [raising, compacting] = await Promise.all([
        worthRaising(reader, channels),
        worthRaising(reader, directs),
      ]);
      const self = await reader.self();
      await Promise.all([
        ...raising.map(({ subscription }) => raiseFloor(outside, reader, subscription, states)),
        ...compacting.map(({ conversation }) =>
          compactReadState(outside, reader.realm, self, states.get(conversation) ?? { conversation }),
        ),
      ]);
    },
  };
}

async function aboveReadFloors<S extends PlaceStream>(reader: Reader, streams: readonly S[]): Promise<S[]> {
  const raised = await Promise.all(streams.map((stream) => aboveReadFloor(reader, stream)));
  return raised.filter((stream) => stream !== undefined);
}

/** Adds what the serialization depends on. Reads only if a topic is mentioned. */
async function described(reader: Reader, heads: readonly MessageHead[]): Promise<UnreadMessage[]> {
  return Promise.all(
    heads.map(async (head) => {
      const { channelId, topic = '', mentions } = head;
      if (channelId === undefined) return { ...head, isMuted: false, takesPart: true };
      return {
        ...head,
        isMuted: await isMuted(reader, head),
        takesPart: mentions?.topic === true && (await reader.takesPart(channelId, topic)),
      };
    }),
  );
}

/**
 * The messages that are listed as unread by id and that the reader can have received. They may have moved to another
 * channel since they were listed.
 */
function listedUnread(
  states: ReadonlyMap<string, ReadState>,
  subscriptions: ReadonlyMap<number, Subscription>,
): number[] {
  const oldest = Math.min(...[...subscriptions.values()].map(({ since }) => since));
  return [...states.values()].flatMap(({ channelId, unread }) =>
    [...(unread ?? [])].filter((id) => channelId === undefined || id > oldest),
  );
}

/** Most floors raised after one registration. */
const MAX_RAISED = 5;

/** A floor is raised if this many messages above it are read: then it saves more than it costs. */
const MIN_READ_ABOVE = 200;

/** The first streams with so many cached messages that are read. */
async function worthRaising<S extends MessageStream>(reader: Reader, streams: readonly S[]): Promise<S[]> {
  const readAbove = await Promise.all(
    streams.map(async ({ cache, above }) => {
      const heads = [...cache.heads()].filter(({ id }) => id > above);
      return heads.length - (await unreadAmong(reader)(heads)).size;
    }),
  );
  return streams.filter((_, i) => (readAbove[i] ?? 0) >= MIN_READ_ABOVE).slice(0, MAX_RAISED);
}

/**
 * `unread_msgs` of `POST /register`. Ids are in rising order.
 *
 * @param upTo leaves out later messages, which the client gets as events
 * @param hidden leaves out messages of these channels
 * @param emptyTopicName the client supports the empty topic name
 */
export function unreadObject(
  unread: Unread,
  reader: Standing,
  {
    upTo,
    hidden,
    emptyTopicName,
  }: {
    readonly upTo: number;
    readonly hidden?: ReadonlySet<number>;
    readonly emptyTopicName: boolean;
  },
) {
  const messages = unread.messages
    .filter(({ id, channelId }) => id <= upTo && !(channelId !== undefined && hidden?.has(channelId)))
    .sort((a, b) => a.id - b.id);
  const directs = grouped(messages.filter(({ channelId }) => channelId === undefined));
  const topics = grouped(messages.filter(({ channelId }) => channelId !== undefined));
  return {
    count: messages.filter(({ isMuted }) => !isMuted).length,
    pms: directs.filter(isPair).map((group) => ({
      other_user_id: otherOf(group.newest, reader.userId),
      sender_id: otherOf(group.newest, reader.userId),
      unread_message_ids: group.ids,
    })),
    streams: topics.map(({ newest: { channelId = 0, topic = '' }, ids }) => ({
      stream_id: channelId,
      topic: topic === '' && !emptyTopicName ? EMPTY_TOPIC_NAME : topic,
      unread_message_ids: ids,
    })),
    huddles: directs
      .filter((group) => !isPair(group))
      .map(({ newest, ids }) => ({
        user_ids_string: (newest.people ?? []).join(','),
        unread_message_ids: ids,
      })),
    mentions: messages.filter((message) => addresses(message, reader)).map(({ id }) => id),
    old_unreads_missing: unread.missing,
  };
}

/** Unread messages of one conversation. */
interface Group {
  readonly newest: MessageHead;
  readonly ids: readonly number[];
}

function grouped(messages: readonly UnreadMessage[]): Group[] {
  const groups = Map.groupBy(messages, ({ conversation }) => conversation);
  return [...groups.values()].flatMap((group) => {
    const newest = group.at(-1);
    return newest ? [{ newest, ids: group.map(({ id }) => id) }] : [];
  });
}

/** Whether a direct conversation has two people, or only the reader. */
const isPair = ({ newest }: Group): boolean => (newest.people ?? []).length <= 2;

const otherOf = ({ people = [] }: MessageHead, userId: number): number =>
  people.find((id) => id !== userId) ?? userId;

/** Whether the message mentions the reader. Wildcards do not count in a muted topic. */
const addresses = (message: UnreadMessage, reader: Standing): boolean => {
  const { mentions, isMuted, takesPart } = message;
  const byWildcard = mentions?.channel === true || (mentions?.topic === true && takesPart);
  return isMentioned(message, reader) || (byWildcard && !isMuted);
};
