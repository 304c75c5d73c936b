import { isId } from '../../kernel/lookup.ts';
import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot, Slot } from '../../log/slot.ts';
import { type IndexEntry, indexes, key, LARGEST_NUMBER } from '../../table/keys.ts';
import type { Range } from '../../table/query.ts';
import type { Table } from '../../table/table.ts';
import { topicConversation } from './message.ts';

export const rangeOf = ({ from, to, side, limit }: RangeRequest): Range<'slot'> => ({
  from: { seq: from },
  to: { seq: to },
  descending: side === 'older',
  limit,
});

const headOf = (
  { sk, senderId, topic, readBySender, readIn, mentions }: IndexEntry,
  place: Pick<MessageHead, 'conversation' | 'channelId' | 'people'>,
): MessageHead => ({
  ...place,
  id: Number(sk),
  senderId,
  readBySender,
  ...(topic !== undefined && { topic }),
  ...(readIn !== undefined && { readIn }),
  ...(mentions !== undefined && { mentions }),
});

/** The messages of a channel, or of one conversation. */
export type MessageScope =
  | { readonly channelId: number; readonly conversation?: undefined }
  | Pick<MessageHead, 'conversation' | 'channelId' | 'people'>;

/** Reads messages from an index, which shows changes a moment late. `currentMessages` (recent.ts) adds those. */
export const indexedMessages =
  (table: Table, realm: string, place: MessageScope): RangeReader =>
  async (reach) => {
    const { channelId, conversation } = place;
    const [index, pk] =
      conversation === undefined
        ? ([indexes.channel, indexes.channel.key(realm, channelId)] as const)
        : ([indexes.conversation, indexes.conversation.key(realm, conversation)] as const);
    const { items, more } = await table.indexPage(index, pk, rangeOf(reach));
    const heads = items.map((entry) =>
      conversation === undefined
        ? headOf(entry, { channelId, conversation: topicConversation(channelId, entry.topic ?? '') })
        : headOf(entry, place),
    );
    return { heads, until: more ? heads.at(-1)?.id : undefined };
  };

export const isMessage = (slot: Slot): slot is MessageSlot => slot.kind === 'message';

/** The existing messages with these ids. */
export async function loadMessages(
  table: Table,
  realm: string,
  ids: readonly number[],
): Promise<MessageSlot[]> {
  const keys = [...new Set(ids)].filter(isId).map((seq) => key('slot', { realm, seq }));
  const slots = await table.getMany(keys);
  return slots.filter(isMessage);
}

/** Messages in one read: even large ones fit into the memory of a function. */
export const MAX_MESSAGES_AT_ONCE = 500;

/** The heads of the existing messages with these ids. One round trip for each 500. */
export async function loadHeads(
  table: Table,
  realm: string,
  ids: readonly number[],
): Promise<readonly MessageHead[]> {
  const heads: MessageHead[] = [];
  for (let start = 0; start < ids.length; start += MAX_MESSAGES_AT_ONCE) {
    const messages = await loadMessages(table, realm, ids.slice(start, start + MAX_MESSAGES_AT_ONCE));
    heads.push(...messages.map(toHead));
  }
  return heads;
}

/** A message without its text. */
export const toHead = ({ id, conversation, people, channelId, ...message }: MessageHead): MessageHead => ({
  ...headOf(
    { ...message, sk: String(id) },
    {
      conversation,
      ...(channelId !== undefined && { channelId }),
      ...(people !== undefined && { people }),
    },
  ),
});

/** The direction to read in from a message. */
export type Side = 'older' | 'newer';

/** A range of message ids, both ends included, to read in one direction. */
export interface RangeRequest {
  readonly from: number;
  readonly to: number;
  readonly side: Side;
  readonly limit: number;
}

/** Messages in a range, in no order. */
export interface RangeResult {
  readonly heads: readonly MessageHead[];
  /** The last id of the part that was read; undefined if all of the range was. */
  readonly until: number | undefined;
}

export type RangeReader = (reach: RangeRequest) => Promise<RangeResult>;

/**
 * The messages read so far: all from `low` up to, but not including, `high`. It grows at both ends, so that a
 * request reads nothing twice.
 */
export class RangeCache {
  readonly #reach: RangeReader;
  readonly #heads = new Map<number, MessageHead>();
  #low = 0;
  #high = 0;

  constructor(reach: RangeReader) {
    this.#reach = reach;
  }

  /** A cache of all messages in the scope. */
  static of(heads: readonly MessageHead[]): RangeCache {
    const strip = new RangeCache(async () => ({ heads: [], until: undefined }));
    for (const head of heads) strip.#heads.set(head.id, head);
    strip.#high = Number.POSITIVE_INFINITY;
    return strip;
  }

  /** The next id to read on this side: 0 or infinity at the end. */
  frontier(side: Side): number {
    return side === 'newer' ? this.#high : Math.max(0, this.#low - 1);
  }

  /** The start of the cached range that ends before `id`: `id` itself if there is none. */
  knownBelow(id: number): number {
    return this.#low <= id && id <= this.#high ? this.#low : id;
  }

  /** Whether the cached range includes this id. */
  covers(id: number): boolean {
    return this.#low <= id && id < this.#high;
  }

  /** The cached messages, in no order. */
  heads(): Iterable<MessageHead> {
    return this.#heads.values();
  }

  /** Moves to this id. If the cached range neither includes nor touches it, the cache is cleared. */
  moveTo(id: number): void {
    if (this.#low <= id && id <= this.#high) return;
    this.#heads.clear();
    this.#low = id;
    this.#high = id > LARGEST_NUMBER ? Number.POSITIVE_INFINITY : id;
  }

  /** Reads up to `limit` more messages on one side: older ones above an id, or newer ones below one. */
  async extend(side: Side, limit: number, above = 0, below = Number.POSITIVE_INFINITY): Promise<void> {
    const next = this.frontier(side);
    if (side === 'older' ? next <= above : next >= below || !Number.isFinite(next)) return;
    const reach: RangeRequest =
      side === 'older'
        ? { from: above + 1, to: Math.min(next, LARGEST_NUMBER), side, limit }
        : { from: next, to: Math.min(below - 1, LARGEST_NUMBER), side, limit };
    const { heads, until } = await this.#reach(reach);
    for (const head of heads) this.#heads.set(head.id, head);
    if (side === 'older') this.#low = until ?? above + 1;
    else this.#high = until === undefined ? below : until + 1;
  }
}
