import { chunksOf } from '../../lists.ts';
import type { Log } from '../../log/log.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { isMessage, loadMessages, MAX_MESSAGES_AT_ONCE } from '../../model/message/load.ts';
import type { Table } from '../../table/table.ts';
import { changedIn, isTorn } from './changes.ts';
import type { IndexedMessage } from './segment.ts';

/** Most messages of a segment, and most text (bytes of HTML) that a run holds for one. */
export const MAX_MESSAGES = 8_192;
const MAX_TEXT = 16_000_000;
/** Most slots and changed messages of one batch. */
const MAX_SLOTS = 20_000;
const MAX_CHANGED = 4_000;

/** Slots of one read. */
const PAGE = 1_000;

/** What the log has after a number, up to another one. */
export interface Batch {
  /** The new messages, in order. */
  readonly sent: readonly IndexedMessage[];
  /** The ids of older messages that were changed, moved or removed. */
  readonly changed: ReadonlySet<number>;
  /** The last number that was read. */
  readonly until: number;
  /** Some of the log may be gone. */
  readonly isTorn: boolean;
}

/** Reads a part of the log of bounded size: from `after` up to `head` at most, where the log must be complete. */
export async function loadBatch({ table, realm, now }: Log, after: number, head: number): Promise<Batch> {
  const sent: IndexedMessage[] = [];
  const changed = new Set<number>();
  let [until, slots, text, torn] = [after, 0, 0, false];
  while (
    until < head &&
    sent.length < MAX_MESSAGES &&
    text < MAX_TEXT &&
    slots < MAX_SLOTS &&
    changed.size < MAX_CHANGED
  ) {
    const limit = Math.min(PAGE, MAX_MESSAGES - sent.length);
    const range = { from: { seq: until + 1 }, to: { seq: head }, limit };
    const { items, more } = await table.page('slot', { realm }, range);
    torn ||= isTorn(items, until, now());
    for (const slot of items) {
      if (isMessage(slot)) sent.push(indexedMessage(slot));
      for (const id of changedIn(slot)) if (id <= after) changed.add(id);
      if (isMessage(slot)) text += slot.rendered.length;
    }
    slots += items.length;
    until = more ? (items.at(-1)?.seq ?? head) : head;
  }
  return { sent, changed, until, isTorn: torn };
}

/** The existing messages with ids in a range, both ends included. */
export async function loadRange(
  table: Table,
  realm: string,
  first: number,
  last: number,
): Promise<IndexedMessage[]> {
  const range = { from: { seq: first }, to: { seq: last } };
  return (await table.all('slot', { realm }, range)).filter(isMessage).map(indexedMessage);
}

/** Those of the messages that still exist, as they are now. */
export async function loadPresent(
  table: Table,
  realm: string,
  ids: readonly number[],
): Promise<IndexedMessage[]> {
  const present: IndexedMessage[] = [];
  for (const some of chunksOf(ids, MAX_MESSAGES_AT_ONCE))
    present.push(...(await loadMessages(table, realm, some)).map(indexedMessage));
  return present;
}

/** Only what is indexed, so that the rest of the slot does not stay in memory. */
const indexedMessage = ({
  id,
  senderId,
  conversation,
  channelId,
  people,
  topic,
  rendered,
}: MessageSlot): IndexedMessage => ({
  id,
  senderId,
  conversation,
  rendered,
  ...(channelId !== undefined && { channelId }),
  ...(people !== undefined && { people }),
  ...(topic !== undefined && { topic }),
});
