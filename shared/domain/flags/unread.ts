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

/** Most unread messages of a reply, the newest ones; clients expect no more. */
export const MAX_UNREAD = 5_000;

/** An unread message, with what its serialization depends on. */
export interface UnreadMessage extends MessageHead {
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
  const recent = (): Promise<RecentChanges> => reader.recent();
  // The caller that awaits it gets the error.
  recent().catch(ignored);
  const expected = earlier && findUnread(outside, earlier, recent);
  expected?.catch(ignored);
  const snapshot = await loadSnapshot(reader);
  const isAsExpected = earlier !== undefined && isDeepStrictEqual(snapshot, await loadSnapshot(earlier));
  return expected !== undefined && isAsExpected ? expected : findUnread(outside, reader, recent);
}

/** Ignore failures of a speculative read. */
const ignored = (): void => {};

/** Reads what decides where unread messages can be. */
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
    upkeep: () => raiseFloors(outside, reader, recent, { channels, directs }),
  };
}

const NEWEST = LARGEST_NUMBER + 1;

async function lanesAboveFloors<L extends PlaceStream>(reader: Reader, lanes: readonly L[]): Promise<L[]> {
  const raised = await Promise.all(lanes.map((lane) => aboveReadFloor(reader, lane)));
  return raised.filter((lane) => lane !== undefined);
}

/** Adds what the serialization depends on. Reads only if a topic is mentioned. */
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

/** How many of the cached messages of a stream are read. */
async function readAbove(reader: Reader, { cache, above }: MessageStream): Promise<number> {
  const heads = [...cache.heads()].filter(({ id }) => id > above);
  return heads.length - (await unreadAmong(reader)(heads)).size;
}

async function worthRaising<L extends MessageStream>(reader: Reader, lanes: readonly L[]): Promise<L[]> {
  const counts = await Promise.all(lanes.map((lane) => readAbove(reader, lane)));
  return lanes.filter((_, i) => (counts[i] ?? 0) >= MIN_READ_ABOVE).slice(0, MAX_RAISED);
}

/** The streams that were searched for unread messages, and what was found. */
interface Looked {
  readonly channels: readonly (PlaceStream & { readonly subscription: Subscription })[];
  readonly directs: readonly (PlaceStream & { readonly dialogue: DirectMembership })[];
}

async function raiseFloors(
  outside: Pick<Outside, 'table' | 'now' | 'uuid'>,
  reader: Reader,
  recent: () => Promise<RecentChanges>,
  { channels, directs }: Looked,
): Promise<void> {
  const { realm, userId } = reader;
  const [states, raising, compacting] = await Promise.all([
    reader.states(),
    worthRaising(reader, channels),
    worthRaising(reader, directs),
  ]);
  await Promise.all([
    ...raising.map(({ subscription }) =>
      raiseFloor(outside, realm, userId, subscription, { states, recent }),
    ),
    ...compacting.map(({ dialogue: { conversation } }) =>
      compactReadState(outside, realm, userId, states.get(conversation) ?? { conversation }),
    ),
  ]);
}
