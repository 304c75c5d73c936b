import type { MessageHead } from '../../log/message.ts';
import { key, readPrefix, sortPrefix } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import type { Subscription } from '../channel/channel.ts';
import { readPlaceOf } from './head.ts';

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
export const CROWDED = 256;

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
export const stateFrom = (
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
  update: key('read', { realm, userId, conversation: readPlaceOf(head) }),
  change: {
    set: { ...readPlace(head), at: now },
    add: { [as]: new Set(ids), added: ids.length, version: 1 },
    take: { [as === 'read' ? 'unread' : 'read']: new Set(ids) },
  },
  when: { below: { added: CROWDED } },
  lastWriterWins: true,
});

/** What a read state says of its place. The channel is told where it is certain. */
export const readPlace = (head: MessageHead): Pick<ReadState, 'conversation' | 'channelId'> => ({
  conversation: readPlaceOf(head),
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
