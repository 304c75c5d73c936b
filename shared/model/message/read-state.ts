import type { Outside } from '../../kernel/outside.ts';
import type { MessageHead } from '../../log/message.ts';
import { key, LARGEST_NUMBER, readPrefix, sortPrefix } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Changes, Write } from '../../table/write.ts';
import type { Subscription } from '../channel/channel.ts';
import { indexedMessages, loadMessages } from './load.ts';
import { readConversationOf } from './message.ts';

/**
 * What one person has read of one conversation (DESIGN 4): everything up to a floor, and single messages above it.
 * A message that was marked as unread again is one by itself, wherever the floor is. So a change of flags only adds
 * to sets and takes from them, and two devices at once never undo each other's.
 */
export interface ReadState {
  readonly conversation: string;
  /** The channel, where the conversation is a topic. */
  readonly channelId?: number;
  /** Everything up to here is read, except what is in `unread`. */
  readonly floor?: number;
  readonly read?: ReadonlySet<number>;
  readonly unread?: ReadonlySet<number>;
  /** How many ids were added since the sets were last made small. */
  readonly added?: number;
  /** Grows with each change, so that making the sets small can be held to what it saw. */
  readonly version?: number;
  /** When a client changed it last, ms. */
  readonly at?: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    read: ReadState;
  }
}

/** When so many ids were added to a read state, its sets must be made small before it takes more. */
export const MAX_ADDED_IDS = 256;

/**
 * Whether a message is unread for somebody. What did not come to them is never unread: messages of a channel count
 * from the subscription on, whose floor holds for all its topics.
 */
export function isUnread(
  { id, senderId, channelId, readBySender }: Omit<MessageHead, 'conversation'>,
  userId: number,
  subscription: Pick<Subscription, 'since' | 'readFloor'> | undefined,
  state: ReadState | undefined,
): boolean {
  if (channelId !== undefined && (subscription === undefined || id <= subscription.since)) return false;
  if (state?.unread?.has(id)) return true;
  if (id <= floorOf(subscription, state)) return false;
  if (senderId === userId && readBySender) return false;
  return state?.read?.has(id) !== true;
}

/** Everything up to this id is read, or listed as unread. */
export const floorOf = (
  subscription: Pick<Subscription, 'since' | 'readFloor'> | undefined,
  state: ReadState | undefined,
): number => Math.max(subscription?.since ?? 0, subscription?.readFloor ?? 0, state?.floor ?? 0);

/**
 * What somebody has read, as it is for a message that moved away from a channel of theirs (`former`): the floor there
 * holds for it still, since everything below it that is unread is listed.
 */
export const withFormerFloor = (
  former: Pick<Subscription, 'since' | 'readFloor'> | undefined,
  id: number,
  state: ReadState | undefined,
): ReadState | undefined =>
  former === undefined || id <= former.since
    ? state
    : { conversation: '', ...state, floor: Math.max(state?.floor ?? 0, former.readFloor) };

/**
 * Marks messages that are noted in one conversation, of which `head` is one, as read, or as unread again. Refused where the sets have grown too large; then
 * they are made small (`compactReadState`) and the same is done again.
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

/** What a read state says of its place. The channel is told where it is certain. */
export const readStateFields = (head: MessageHead): Pick<ReadState, 'conversation' | 'channelId'> => ({
  conversation: readConversationOf(head),
  ...(head.readIn === undefined && head.channelId !== undefined && { channelId: head.channelId }),
});

/** The read states of one person: of all conversations, or of the topics of one channel. */
export async function loadReadStates(
  table: Table,
  realm: string,
  userId: number,
  channelId?: number,
): Promise<ReadState[]> {
  return table.all(
    'read',
    { realm, userId },
    { prefix: channelId === undefined ? sortPrefix('read') : readPrefix(channelId) },
  );
}

/**
 * A message of this age (ms) is settled: numbers below its own are committed or never will be, since a function
 * lives for 29 s at most, and the indexes show them. Only settled messages may come under a floor, because what is
 * under a floor counts as read although nobody listed it.
 */
export const SETTLED_MS = 60_000;

/** Where to look for the newest settled message, as parts of a list: four looks in one read. */
const PROBES = [1, 0.75, 0.5, 0.25] as const;

/** The id of about the newest settled one of these messages, which are in id order; 0 if none of them is. */
export async function newestSettled(
  { table, now }: Pick<Outside, 'table' | 'now'>,
  realm: string,
  heads: readonly MessageHead[],
): Promise<number> {
  const ids = PROBES.flatMap((part) => heads[Math.ceil(heads.length * part) - 1]?.id ?? []);
  const messages = await loadMessages(table, realm, ids);
  return Math.max(0, ...messages.filter(({ at }) => at <= now() - SETTLED_MS).map(({ id }) => id));
}

/** Messages that are looked at to raise one floor. */
const MAX_SCANNED = 2_000;

/** Most ids that a read state keeps; beyond that, the oldest of them count as read. */
const MAX_IDS = 4_000;

/**
 * Makes the sets of a read state small: raises the floor over what is settled, drops the ids below it, and lists
 * those below it that are unread. Does nothing where a client changed the state meanwhile; the next time will do.
 */
export async function compactReadState(
  outside: Pick<Outside, 'table' | 'now'>,
  realm: string,
  userId: number,
  state: ReadState,
): Promise<void> {
  const { table } = outside;
  const { conversation, channelId } = state;
  const subscription =
    channelId === undefined ? undefined : await table.get('subscription', { realm, userId, channelId });
  const floor = floorOf(subscription, state);
  const place = { conversation, ...(channelId !== undefined && { channelId }) };
  // Only what is settled counts, and what moved here lately is noted elsewhere: the index shows all that matters.
  const { heads } = await indexedMessages(
    table,
    realm,
    place,
  )({ from: floor + 1, to: LARGEST_NUMBER, side: 'newer', limit: MAX_SCANNED });
  const settled = Math.max(floor, await newestSettled(outside, realm, heads));
  const unread = heads.filter(
    (head) =>
      head.id <= settled &&
      readConversationOf(head) === conversation &&
      isUnread(head, userId, subscription, state),
  );
  const sets = limited(
    raised(
      state,
      settled,
      unread.map(({ id }) => id),
    ),
  );
  const change = changeTo(place, sets);
  await table
    .update(key('read', { realm, userId, conversation }), change, { equals: { version: state.version } })
    .catch(ignoreFailedCondition);
}

interface Sets {
  readonly floor: number;
  readonly read: readonly number[];
  readonly unread: readonly number[];
}

/** The state with its floor raised to what is settled, or only to the first unread message if many are unread. */
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

/** The sets with no more ids than may be kept. */
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

/** A set that is empty cannot be stored, so it is removed. */
function changeTo(
  place: Pick<ReadState, 'conversation' | 'channelId'>,
  { floor, read, unread }: Sets,
): Changes {
  const set: Record<string, unknown> = { ...place, floor, added: 0 };
  const remove: string[] = [];
  for (const [name, ids] of [
    ['read', read],
    ['unread', unread],
  ] as const) {
    if (ids.length > 0) set[name] = new Set(ids);
    else remove.push(name);
  }
  return { set, add: { version: 1 }, remove };
}

/** Somebody else changed the state: what was worked out does not hold any more. */
export function ignoreFailedCondition(error: unknown): void {
  if (!(error instanceof Error && error.name === 'ConditionalCheckFailedException')) throw error;
}
