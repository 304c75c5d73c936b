import { isDeepStrictEqual } from 'node:util';
import type { Outside } from '../../kernel/outside.ts';
import type { MessageHead } from '../../log/message.ts';
import type { Subscription } from '../../model/channel/channel.ts';
import type { DirectMembership } from '../../model/message/direct.ts';
import { topicConversation } from '../../model/message/message.ts';
import type { ReadState } from '../../model/message/read-state.ts';
import { compactReadState } from '../../model/message/read-state.ts';
import type { RecentChanges } from '../../model/message/recent.ts';
import { visibility } from '../../model/message/user-topic.ts';
import { LARGEST_NUMBER } from '../../table/keys.ts';
import { mergeStreams } from '../reader/merge-streams.ts';
import type { Reader } from '../reader/reader.ts';
import {
  aboveReadFloor,
  channelStream,
  directStream,
  listedStream,
  type MessageStream,
  type PlaceStream,
  unreadAmong,
} from '../reader/streams.ts';
import { raiseFloor } from './read-floor.ts';

/** Most unread messages that are told of, the newest ones; clients of the reference expect no more. */
export const MAX_UNREAD = 5_000;

/** An unread message, with what the way it is told depends on. */
export interface UnreadMessage extends MessageHead {
  /** Its topic is muted, or its channel and not the topic by itself otherwise. */
  readonly isMuted: boolean;
  /** The reader takes part in the topic. Known where the message mentions those who do. */
  readonly takesPart: boolean;
}

/** What somebody has not read. */
export interface Unread {
  /** Newest first. */
  readonly messages: readonly UnreadMessage[];
  /** There may be older ones. */
  readonly missing: boolean;
  /**
   * Raises floors where much is read above them, so that the next look is short. The reply does not need it: run
   * it beside other writes. A race that it loses is no error.
   */
  readonly upkeep: () => Promise<void>;
}

/**
 * Finds what somebody has not read, for `unread_msgs` of the registration. Two round trips: what they have to do
 * with channels and conversations, then the messages above their floors (a third one where there are very many, or
 * where topics are mentioned as a whole). The work grows with what is unread, not with what there is.
 *
 * `earlier` read the first part of it before. Unless that has changed since, one round trip is enough.
 */
export async function loadUnread(
  outside: Pick<Outside, 'table' | 'now' | 'uuid'>,
  reader: Reader,
  earlier?: Reader,
): Promise<Unread> {
  const recent = (): Promise<RecentChanges> => reader.recent();
  // Whoever needs it meets the fault.
  recent().catch(ignored);
  const expected = earlier && findUnread(outside, earlier, recent);
  expected?.catch(ignored);
  const snapshot = await loadSnapshot(reader);
  const isAsExpected = earlier !== undefined && isDeepStrictEqual(snapshot, await loadSnapshot(earlier));
  return expected !== undefined && isAsExpected ? expected : findUnread(outside, reader, recent);
}

/** What was begun in vain may fail. */
const ignored = (): void => {};

/** Reads what it depends on where messages can be unread, and which of them are. */
const loadSnapshot = (reader: Reader) =>
  Promise.all([reader.subscriptions(), reader.directMemberships(), reader.states(), reader.topicPolicies()]);

async function findUnread(
  outside: Pick<Outside, 'table' | 'now' | 'uuid'>,
  reader: Reader,
  recent: () => Promise<RecentChanges>,
): Promise<Unread> {
  const [subscriptions, dialogues, states] = await loadSnapshot(reader);
  const channels = await lanesAboveFloors(
    reader,
    [...subscriptions.values()].map((each) => ({
      ...channelStream(reader, each, recent),
      subscription: each,
    })),
  );
  const directs = await lanesAboveFloors(
    reader,
    dialogues.map((dialogue) => ({ ...directStream(reader, dialogue, recent), dialogue })),
  );
  const found = await mergeStreams({
    streams: [...channels, ...directs, listedStream(reader, listedUnread(states, subscriptions))],
    side: 'older',
    from: NEWEST,
    need: MAX_UNREAD + 1,
    keep: unreadAmong(reader),
    mayRead: true,
  });
  const heads = found.heads.slice(0, MAX_UNREAD);
  return {
    messages: await described(reader, heads),
    missing: !found.isComplete || found.heads.length > MAX_UNREAD,
    upkeep: () => raiseFloors(outside, reader, recent, { channels, directs, unread: heads }),
  };
}

/** Reading begins at the newest message. */
const NEWEST = LARGEST_NUMBER + 1;

async function lanesAboveFloors<L extends PlaceStream>(reader: Reader, lanes: readonly L[]): Promise<L[]> {
  const raised = await Promise.all(lanes.map((lane) => aboveReadFloor(reader, lane)));
  return raised.filter((lane) => lane !== undefined);
}

/** The messages with what telling them depends on. Reads only where a topic is mentioned as a whole. */
async function described(reader: Reader, heads: readonly MessageHead[]): Promise<UnreadMessage[]> {
  const [subscriptions, policies] = await Promise.all([reader.subscriptions(), reader.topicPolicies()]);
  const policyOf = new Map(
    policies.map(({ channelId, topic, policy }) => [topicConversation(channelId, topic), policy]),
  );
  return Promise.all(
    heads.map(async (head) => {
      const { channelId, conversation, topic = '', mentions } = head;
      if (channelId === undefined) return { ...head, isMuted: false, takesPart: true };
      const policy = policyOf.get(conversation) ?? visibility.inherit;
      const isChannelMuted = subscriptions.get(channelId)?.isMuted === true;
      return {
        ...head,
        isMuted: policy === visibility.muted || (policy === visibility.inherit && isChannelMuted),
        takesPart: mentions?.topic === true && (await reader.takesPart(channelId, topic)),
      };
    }),
  );
}

/**
 * Messages that are listed as unread one by one, as far as they can have come to the reader. Where they were noted says
 * nothing of that: they may have moved to another channel since.
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

/** Places whose floors are raised after one look. */
const MAX_RAISED = 5;

/** A floor is raised where so many messages above it are read: then it saves more than it costs. */
const WORTHWHILE = 200;

/** How many of the messages that were read into the lane are not unread. */
async function readAbove(reader: Reader, { cache, above }: MessageStream): Promise<number> {
  const heads = [...cache.heads()].filter(({ id }) => id > above);
  return heads.length - (await unreadAmong(reader)(heads)).size;
}

async function worthRaising<L extends MessageStream>(reader: Reader, lanes: readonly L[]): Promise<L[]> {
  const counts = await Promise.all(lanes.map((lane) => readAbove(reader, lane)));
  return lanes.filter((_, i) => (counts[i] ?? 0) >= WORTHWHILE).slice(0, MAX_RAISED);
}

/** Where was looked for unread messages, and which there are. */
interface Looked {
  readonly channels: readonly (PlaceStream & { readonly subscription: Subscription })[];
  readonly directs: readonly (PlaceStream & { readonly dialogue: DirectMembership })[];
  readonly unread: readonly MessageHead[];
}

async function raiseFloors(
  outside: Pick<Outside, 'table' | 'now' | 'uuid'>,
  reader: Reader,
  recent: () => Promise<RecentChanges>,
  { channels, directs, unread }: Looked,
): Promise<void> {
  const { realm, userId } = reader;
  const [states, subscriptions, raising, compacting] = await Promise.all([
    reader.states(),
    reader.subscriptions(),
    worthRaising(reader, channels),
    worthRaising(reader, directs),
  ]);
  await Promise.all([
    ...raising.map(({ subscription }) =>
      raiseFloor(outside, realm, userId, subscription, { states, subscriptions, unread, recent }),
    ),
    ...compacting.map(({ dialogue: { conversation } }) =>
      compactReadState(outside, realm, userId, states.get(conversation) ?? { conversation }),
    ),
  ]);
}
