import type { Outside } from '../../kernel/outside.ts';
import { WRITING } from '../../log/commit.ts';
import type { MessageHead } from '../../log/message.ts';
import { entriesOf, type ReadEvent, type Slot } from '../../log/slot.ts';
import type { Table } from '../../table/table.ts';
import {
  indexedMessages,
  loadHeads,
  type MessageScope,
  type RangeReader,
  type RangeRequest,
  type RangeResult,
  toHead,
} from './load.ts';
import { topicConversation } from './message.ts';

/*
 * The indexes over messages show a change a moment after it was committed; DynamoDB promises no time for that. So
 * whatever the log tells of the last seconds is believed rather than an index: which messages came, where messages
 * went, and which are gone. `inPlace` (message-place.ts) puts the two together, and nothing else asks an index about
 * messages that may be young.
 */

/** How late (ms) an index may show a change. Usually it takes less than a second. */
const MAX_INDEX_DELAY_MS = 10_000;

/**
 * What the log tells of the last so many ms is believed rather than an index. Slots stand in the order of their
 * numbers, and a writer may write its slot a while after it took its number: that time is added.
 */
const WINDOW_MS = MAX_INDEX_DELAY_MS + WRITING;

/**
 * How far to look: the slots of the first look where nothing is known of the pace of the log, those of all looks
 * together, and how many looks there may be, which are a round trip each. docs/LIMITS.md says what follows.
 */
interface Extent {
  readonly first: number;
  readonly most: number;
  readonly looks: number;
}

export const extents = {
  read: { first: 40, most: 500, looks: 2 },
  /** A write has no round trip for a second look. */
  write: { first: 100, most: 500, looks: 1 },
  /** Nobody waits for a worker: at 500 changes a second these are ten seconds. */
  worker: { first: 100, most: 5_000, looks: 100 },
} as const satisfies Record<string, Extent>;

/** Where a message is, if it is still there. */
export type MessageLocation = Pick<MessageHead, 'id' | 'conversation' | 'channelId' | 'topic'>;

/** What is known of a message that changed lately: all of its head, only where it went, or that it is gone. */
type State =
  | { readonly kind: 'head'; readonly head: MessageHead }
  | { readonly kind: 'moved'; readonly to: MessageLocation }
  | { readonly kind: 'gone' };

/** What the end of the log tells of messages that an index may not show as they are. */
export class RecentChanges {
  /** False where there was too much for the slots that were read: an index must not be as late then. */
  readonly isComplete: boolean;
  readonly #read: (ids: readonly number[]) => Promise<readonly MessageHead[]>;
  readonly #states: ReadonlyMap<number, State>;
  readonly #moved = new Map<string, Promise<readonly MessageHead[]>>();

  /** `slots` are the last ones of the log, without a gap, in any order; `read` reads heads by their ids. */
  constructor(
    slots: readonly Slot[],
    isWhole: boolean,
    read: (ids: readonly number[]) => Promise<readonly MessageHead[]>,
  ) {
    this.isComplete = isWhole;
    this.#read = read;
    this.#states = statesIn(slots);
  }

  /** Whether the log tells where this message is, so that an index need not be believed. */
  has(id: number): boolean {
    return this.#states.has(id);
  }

  /** Those of the messages that changed lately which are in a place. */
  locationsIn(place: MessageScope): MessageLocation[] {
    return [...this.#states.values()].flatMap((state) => {
      if (state.kind === 'gone') return [];
      const at = state.kind === 'head' ? state.head : state.to;
      return isIn(place, at) ? [at] : [];
    });
  }

  /** The same as heads. One round trip where some of them moved there, or else none. */
  async headsIn(place: MessageScope): Promise<readonly MessageHead[]> {
    const here = this.locationsIn(place);
    const known = here.flatMap(({ id }) => this.#headOf(id) ?? []);
    if (known.length === here.length) return known;
    const name = place.conversation ?? String(place.channelId);
    const moved =
      this.#moved.get(name) ?? this.#read(here.map(({ id }) => id).filter((id) => !this.#headOf(id)));
    this.#moved.set(name, moved);
    return [...known, ...(await moved).filter((head) => isIn(place, head))];
  }

  #headOf(id: number): MessageHead | undefined {
    const state = this.#states.get(id);
    return state?.kind === 'head' ? state.head : undefined;
  }
}

const isIn = (place: MessageScope, { channelId, conversation }: MessageLocation): boolean =>
  place.conversation === undefined ? channelId === place.channelId : conversation === place.conversation;

/** What becomes of each message, from what the slots tell, the last word of the log last. */
function statesIn(slots: readonly Slot[]): Map<number, State> {
  const states = new Map<number, State>();
  const rising = slots.toSorted((a, b) => a.seq - b.seq);
  for (const slot of rising)
    for (const entry of entriesOf(slot)) {
      if (entry.kind === 'event') for (const [id, state] of told(entry)) states.set(id, state);
    }
  // The slot of a message is the message as it is now, whatever was told of it since.
  for (const slot of rising) {
    if (slot.kind === 'message') states.set(slot.id, { kind: 'head', head: toHead(slot) });
    else if (slot.kind === 'tombstone') states.set(slot.seq, { kind: 'gone' });
  }
  return states;
}

/** What an event tells of messages that are older than itself. */
function told({ payload, hearers, about }: ReadEvent): (readonly [number, State])[] {
  const ids = (payload.message_ids ?? []) as readonly number[];
  if (payload.type === 'delete_message') {
    // Who may not read messages where they moved is told that they are deleted.
    return 'goneTo' in hearers ? [] : ids.map((id) => [id, { kind: 'gone' }]);
  }
  if (payload.type !== 'update_message') return [];
  const head: (readonly [number, State])[] = about ? [[about.id, { kind: 'head', head: about }]] : [];
  if (payload.orig_subject === undefined) return head;
  const channelId = (payload.new_stream_id ?? payload.stream_id) as number;
  const topic = (payload.subject ?? payload.orig_subject) as string;
  const to = { channelId, topic, conversation: topicConversation(channelId, topic) };
  return [...ids.map((id): [number, State] => [id, { kind: 'moved', to: { id, ...to } }]), ...head];
}

/**
 * Reads the end of the log, consistently, as far back as an index may be late, if the extent allows it: what is older
 * is not known else (`isWhole`). One round trip, since it is remembered how many slots that took the last time; where
 * they are too few, they are read on.
 */
export async function loadRecentChanges(
  { table, now, cache }: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  { first, most, looks }: Extent,
): Promise<RecentChanges> {
  const since = now() - WINDOW_MS;
  const slots: Slot[] = [];
  let isWhole = false;
  let limit = Math.max(first, withMargin(cache.recentSlots.get(realm) ?? 0));
  for (let look = 1; look <= looks && !isWhole && slots.length < most; look++) {
    const { items, more } = await lastSlots(
      table,
      realm,
      Math.min(limit, most - slots.length),
      slots.at(-1)?.seq,
    );
    slots.push(...items);
    isWhole = !more || (slots.at(-1)?.at ?? 0) < since;
    limit = Math.max(slots.length, 2 * expected(slots, now(), since));
  }
  const young = slots.findLastIndex(({ at }) => at >= since) + 1;
  cache.recentSlots.set(realm, isWhole ? young : expected(slots, now(), since));
  const read = (ids: readonly number[]) => loadHeads(table, realm, ids);
  return new RecentChanges(slots.slice(0, young), isWhole, read);
}

/** A few more than were needed, since what is needed differs from one look to the next. */
const withMargin = (slots: number): number => Math.ceil(1.25 * slots) + 10;

/** How many slots the window has, if it goes on as in those that were read, the newest first. */
function expected(slots: readonly Slot[], now: number, since: number): number {
  const passed = Math.max(1, now - (slots.at(-1)?.at ?? now));
  return withMargin((slots.length * (now - since)) / passed);
}

/** The last slots of the log, newest first: below one of them, or from its end. */
async function lastSlots(
  table: Table,
  realm: string,
  limit: number,
  below: number | undefined,
): Promise<{ readonly items: readonly Slot[]; readonly more: boolean }> {
  const to = below === undefined ? undefined : { seq: below - 1 };
  return table.page('slot', { realm }, { descending: true, limit, ...(to && { to }) });
}

/** The end of the log, read when it is first asked for. */
type Reading = () => Promise<RecentChanges>;

/**
 * The messages of a place, as they are now: what its index shows, but of messages that changed lately what the log
 * tells. One round trip, and another one where messages moved there lately.
 */
export const currentMessages = (
  table: Table,
  realm: string,
  place: MessageScope,
  recent: Reading,
): RangeReader => {
  const merged = merging<MessageHead>(table, realm, place, recent, (changes) => changes.headsIn(place));
  return async (reach) => {
    const { found, until } = await merged(reach);
    return { heads: found, until };
  };
};

/** The same, only which messages there are, and how they spell their topic. Always one round trip. */
export const currentIds = (table: Table, realm: string, place: MessageScope, recent: Reading) =>
  merging<MessageLocation>(table, realm, place, recent, (changes) => changes.locationsIn(place));

const merging =
  <W extends MessageLocation>(
    table: Table,
    realm: string,
    place: MessageScope,
    recent: Reading,
    fresh: (changes: RecentChanges) => readonly W[] | Promise<readonly W[]>,
  ) =>
  async (
    reach: RangeRequest,
  ): Promise<{ readonly found: readonly (W | MessageHead)[]; readonly until: RangeResult['until'] }> => {
    const [{ heads, until }, changes] = await Promise.all([
      indexedMessages(table, realm, place)(reach),
      recent(),
    ]);
    const known = heads.filter(({ id }) => !changes.has(id));
    const changed = (await fresh(changes)).filter(({ id }) => isWithin(reach, until, id));
    return { found: [...known, ...changed], until };
  };

/** Whether an id is in the part of the range that was examined. */
const isWithin = ({ from, to, side }: RangeRequest, until: RangeResult['until'], id: number): boolean =>
  from <= id && id <= to && (until === undefined || (side === 'older' ? id >= until : id <= until));
