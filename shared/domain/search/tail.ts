import type { Outside } from '../../kernel/outside.ts';
import { KEPT, type MessageSlot, type Slot } from '../../log/slot.ts';
import { isMessage } from '../../model/message/load.ts';
import { changedIn, isTorn } from './changes.ts';
import { loadPointer, NO_INDEX, type SearchPointer } from './pointer.ts';

/** Slots that are read at once with the pointer: usually all that are not indexed. */
const FIRST = 256;

/** Most slots that a search reads: a little more than what the worker leaves to it (`due.ts`). */
const MOST = 4_000;

/** What of the index a search needs to know, and the messages that the index does not show as they are. */
export interface SearchState {
  readonly pointer: Pick<SearchPointer, 'list'>;
  /** The messages that were sent since. */
  readonly sent: readonly MessageSlot[];
  /** The ids of other messages that were changed, moved or removed since. */
  readonly changed: readonly number[];
}

/** Reads the pointer, and the log after it: usually one round trip. Undefined if the log has more than a search reads. */
export async function loadSearchState(
  { table, now }: Pick<Outside, 'table' | 'now'>,
  realm: string,
): Promise<SearchState | undefined> {
  const [stored, newest] = await Promise.all([
    loadPointer(table, realm),
    table.page('slot', { realm }, { descending: true, limit: FIRST }),
  ]);
  const pointer = stored === undefined || stored.isVoid ? NO_INDEX : stored;
  const { until } = pointer;
  const slots = newest.items.filter(({ seq }) => seq > until).reverse();
  const lowest = slots[0]?.seq;
  let isWhole = !newest.more || slots.length < newest.items.length || lowest === until + 1;
  const older: Slot[] = [];
  while (!isWhole && lowest !== undefined) {
    const from = { seq: (older.at(-1)?.seq ?? until) + 1 };
    const page = await table.page('slot', { realm }, { from, to: { seq: lowest - 1 }, limit: MOST });
    older.push(...page.items);
    if (older.length >= MOST) return undefined;
    isWhole = !page.more;
  }
  const tail = [...older, ...slots];
  if (now() - pointer.at >= KEPT && isTorn(tail, until, now())) return undefined;
  const sent = tail.filter(isMessage);
  const ids = new Set(sent.map(({ id }) => id));
  const changed = [...new Set(tail.flatMap(changedIn))].filter((id) => !ids.has(id));
  return { pointer, sent, changed };
}
