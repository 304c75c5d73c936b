import type { Outside } from '../../kernel/outside.ts';
import type { MessageHead } from '../../log/message.ts';
import type { EventEntry } from '../../log/slot.ts';
import { key, LARGEST_NUMBER, readPrefix } from '../../table/keys.ts';
import { ignoreRefused } from '../../table/outcome.ts';
import type { Table } from '../../table/table.ts';
import { type Changes, hasVersion, type Write } from '../../table/write.ts';
import type { Subscription } from '../channel/channel.ts';
import { isReadByMute, type MessageReader } from '../user/user.ts';
import { indexedMessages, loadMessages } from './load.ts';
import { readConversationOf } from './message.ts';

/**
 * What a user has read of one conversation (DESIGN 4): everything up to a floor, and single messages above it. A message
 * that was marked as unread is listed, even below the floor. A change only adds to sets or removes from them, so
 * concurrent changes from two devices do not conflict.
 */
export interface ReadState {
  readonly conversation: string;
  /** The channel, where the conversation is a topic. */
  readonly channelId?: number;
  /** Everything up to here is read, except what is in `unread`. */
  readonly floor?: number;
  readonly read?: ReadonlySet<number>;
  readonly unread?: ReadonlySet<number>;
  /** How many ids were added since the last compaction. */
  readonly added?: number;
  /** Grows with each change. A compaction fails if it changed. */
  readonly version?: number;
  /** When a client changed it last, ms. */
  readonly at?: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    read: ReadState;
  }
}

/** After so many ids, a read state must be compacted before more are added. */
export const MAX_ADDED_IDS = 256;

/**
 * Whether a message is unread for a user. Messages that they did not receive are never unread, nor are those of users whom
 * they muted. The floor of a subscription applies to all topics of the channel.
 */
export function isUnread(
  message: Omit<MessageHead, 'conversation'>,
  user: MessageReader,
  subscription: Pick<Subscription, 'since' | 'readFloor'> | undefined,
  state: ReadState | undefined,
): boolean {
  const { id, senderId, channelId, readBySender } = message;
  if (isReadByMute(user, message)) return false;
  if (channelId !== undefined && (subscription === undefined || id <= subscription.since)) return false;
  if (state?.unread?.has(id)) return true;
  if (id <= floorOf(subscription, state)) return false;
  if (senderId === user.userId && readBySender) return false;
  return state?.read?.has(id) !== true;
}

/** All messages up to this id are read, unless listed as unread. */
export const floorOf = (
  subscription: Pick<Subscription, 'since' | 'readFloor'> | undefined,
  state: ReadState | undefined,
): number => Math.max(subscription?.since ?? 0, subscription?.readFloor ?? 0, state?.floor ?? 0);

/**
 * Marks messages as read or unread that share the read state of `head`. Fails if its sets are too large. Then call
 * `compactReadState` and retry.
 */
export const doMark = (
  realm: string,
  userId: number,
  head: MessageHead,
  ids: readonly number[],
  as: 'read' | 'unread',
  now: number,
): Write => ({
  update: key('read', { realm, userId, conversation: readConversationOf(head) }),
  change: {
    set: { ...readStateFields(head), at: now },
    add: { [as]: new Set(ids), added: ids.length, version: 1 },
    take: { [as === 'read' ? 'unread' : 'read']: new Set(ids) },
  },
  when: { below: { added: MAX_ADDED_IDS } },
  lastWriterWins: true,
});

/** The conversation fields of a read state. */
const readStateFields = (head: MessageHead): Pick<ReadState, 'conversation' | 'channelId'> => ({
  conversation: readConversationOf(head),
  ...(head.channelId !== undefined && { channelId: head.channelId }),
});

/** The event that some of a user's messages have a flag now, or no longer. `details` by id, if they became unread. */
export const flagsEvent = (
  userId: number,
  op: 'add' | 'remove',
  flag: 'read' | 'starred',
  messages: readonly number[],
  details?: Readonly<Record<string, object>>,
): EventEntry => ({
  kind: 'event',
  hearers: { users: [userId] },
  payload: {
    type: 'update_message_flags',
    op,
    // Its name before feature level 32.
    operation: op,
    flag,
    messages,
    all: false,
    ...(details && { message_details: details }),
  },
});

/** The event that a user has read all messages. */
export function allReadEvent(userId: number): EventEntry {
  const event = flagsEvent(userId, 'add', 'read', []);
  return { ...event, payload: { ...event.payload, all: true } };
}

/** The read states of a user: of all conversations, or of the topics of one channel. */
export const loadReadStates = (
  table: Table,
  realm: string,
  userId: number,
  channelId?: number,
): Promise<ReadState[]> =>
  table.all('read', { realm, userId }, channelId === undefined ? {} : { prefix: readPrefix(channelId) });

/**
 * A message of this age is settled: all lower numbers are committed or never will be, since a function runs for 29 s at
 * most, and the indexes show them. Only settled messages may be below a floor, since unlisted messages there are read.
 */
export const SETTLED_MS = 60_000;

/** Where to look for the newest settled message, as fractions of a list: four messages in one read. */
const PROBES = [1, 0.75, 0.5, 0.25] as const;

/** The id of approximately the newest settled message of these, which are in id order; 0 if none is. */
export async function newestSettled(
  { table, now }: Pick<Outside, 'table' | 'now'>,
  realm: string,
  heads: readonly MessageHead[],
): Promise<number> {
  const ids = PROBES.flatMap((part) => heads[Math.ceil(heads.length * part) - 1]?.id ?? []);
  const messages = await loadMessages(table, realm, ids);
  return Math.max(0, ...messages.filter(({ at }) => at <= now() - SETTLED_MS).map(({ id }) => id));
}

/** Messages to read when a floor is raised. */
const MAX_SCANNED = 2_000;

/** Most ids in a read state. With more, the oldest count as read. */
const MAX_IDS = 4_000;

/**
 * Compacts a read state: raises the floor to the newest settled message, drops read ids below it, and lists unread ones.
 * Does nothing if the state changed concurrently; the next call will do it.
 */
export async function compactReadState(
  outside: Pick<Outside, 'table' | 'now'>,
  realm: string,
  user: MessageReader,
  state: ReadState,
): Promise<void> {
  const { table } = outside;
  const { userId } = user;
  const { conversation, channelId } = state;
  const subscription =
    channelId === undefined ? undefined : await table.get('subscription', { realm, userId, channelId });
  const floor = floorOf(subscription, state);
  // Messages that moved to another topic of the channel keep this read state. The index is enough: only settled messages
  // count, and messages that moved here from elsewhere have another one.
  const place = channelId === undefined ? { conversation } : { channelId };
  const range = { from: floor + 1, to: LARGEST_NUMBER, side: 'newer', limit: MAX_SCANNED } as const;
  const { heads } = await indexedMessages(table, realm, place)(range);
  const settled = Math.max(floor, await newestSettled(outside, realm, heads));
  const unread = heads
    .filter((head) => head.id <= settled && readConversationOf(head) === conversation)
    .filter((head) => isUnread(head, user, subscription, state));
  const unreadIds = unread.map(({ id }) => id);
  const sets = limited(raised(state, settled, unreadIds));
  const at = key('read', { realm, userId, conversation });
  await table.update(at, changeTo(state, sets), hasVersion(state.version)).catch(ignoreRefused);
}

interface Sets {
  readonly floor: number;
  readonly read: readonly number[];
  readonly unread: readonly number[];
}

/** Raises the floor to `settled`, or only to the first unread message if many are unread. */
function raised(state: ReadState, settled: number, unread: readonly number[]): Sets {
  const read = [...(state.read ?? [])];
  const listed = new Set(state.unread);
  const more = unread.filter((id) => !listed.has(id));
  const dropped = read.filter((id) => id <= settled).length;
  const pays = 2 * more.length <= dropped;
  const floor = pays ? settled : Math.max(state.floor ?? 0, (more[0] ?? settled + 1) - 1);
  return {
    floor,
    read: read.filter((id) => id > floor),
    unread: [...listed, ...more.filter((id) => id <= floor)],
  };
}

/** The sets with at most `MAX_IDS` ids. */
function limited(sets: Sets): Sets {
  const ids = [...sets.read, ...sets.unread].sort((a, b) => b - a);
  const floor = ids[MAX_IDS];
  if (floor === undefined) return sets;
  const newer = (id: number): boolean => id > floor;
  return {
    floor: Math.max(sets.floor, floor),
    read: sets.read.filter(newer),
    unread: sets.unread.filter(newer),
  };
}

/** DynamoDB stores no empty sets, so they are removed. */
function changeTo({ conversation, channelId }: ReadState, { floor, read, unread }: Sets): Changes {
  return {
    set: {
      conversation,
      ...(channelId !== undefined && { channelId }),
      floor,
      added: 0,
      ...(read.length > 0 && { read: new Set(read) }),
      ...(unread.length > 0 && { unread: new Set(unread) }),
    },
    add: { version: 1 },
    remove: [...(read.length > 0 ? [] : ['read']), ...(unread.length > 0 ? [] : ['unread'])],
  };
}
