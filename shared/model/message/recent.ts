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
 * The message indexes are eventually consistent, without a bound. So the log overrides them for the last seconds: it
 * has the messages that were sent, moved and deleted. `currentMessages` merges the two. Nothing else reads an index
 * where messages may be recent.
 */

/** How long an index may take to show a change. Usually it is less than a second. */
const MAX_INDEX_DELAY_MS = 10_000;

/** For so long the log overrides an index. A writer may write its slot `WRITING` ms after it allocated its number. */
const WINDOW_MS = MAX_INDEX_DELAY_MS + WRITING;

/** How much of the log to read; docs/LIMITS.md has the consequences. */
interface Extent {
  /** Slots in the first read, if the pace of the log is unknown. */
  readonly first: number;
  /** Slots in all reads together. */
  readonly most: number;
  /** Reads, which are one round trip each. */
  readonly looks: number;
}

export const extents = {
  read: { first: 40, most: 500, looks: 2 },
  /** A write has no round trip for a second read. */
  write: { first: 100, most: 500, looks: 1 },
  /** Nobody waits for a worker: at 500 changes a second these are ten seconds. */
  worker: { first: 100, most: 5_000, looks: 100 },
} as const satisfies Record<string, Extent>;

/** The channel, topic and conversation of a message. */
export type MessageLocation = Pick<MessageHead, 'id' | 'conversation' | 'channelId' | 'topic'>;

/** A message that changed recently: its new head, only its new location, or deleted. */
type State =
  | { readonly kind: 'head'; readonly head: MessageHead }
  | { readonly kind: 'moved'; readonly to: MessageLocation }
  | { readonly kind: 'gone' };

/** The messages that an index may show outdated, from the end of the log. */
export class RecentChanges {
  /** The slots that were read: the last ones of the log, without a gap, newest first. */
  readonly slots: readonly Slot[];
  /** False if the window had more slots than were read. Then an index may be outdated for a shorter time only. */
  readonly isComplete: boolean;
  readonly #read: (ids: readonly number[]) => Promise<readonly MessageHead[]>;
  readonly #states: ReadonlyMap<number, State>;
  readonly #moved = new Map<string, Promise<readonly MessageHead[]>>();

  /** The first `young` of the slots override the indexes. `read` reads heads by their ids. */
  constructor(
    slots: readonly Slot[],
    young: number,
    isWhole: boolean,
    read: (ids: readonly number[]) => Promise<readonly MessageHead[]>,
  ) {
    this.slots = slots;
    this.isComplete = isWhole;
    this.#read = read;
    this.#states = statesIn(slots.slice(0, young));
  }

  /** Whether the message changed recently, so that this overrides the index. */
  has(id: number): boolean {
    return this.#states.has(id);
  }

  /** The recently changed messages in a scope. */
  locationsIn(place: MessageScope): MessageLocation[] {
    return [...this.#states.values()].flatMap((state) => {
      if (state.kind === 'gone') return [];
      const at = state.kind === 'head' ? state.head : state.to;
      return isIn(place, at) ? [at] : [];
    });
  }

  /** The same as heads. One round trip if some moved there; otherwise none. */
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

/** The newest state of each message in these slots. */
function statesIn(slots: readonly Slot[]): Map<number, State> {
  const states = new Map<number, State>();
  const rising = slots.toSorted((a, b) => a.seq - b.seq);
  for (const slot of rising)
    for (const entry of entriesOf(slot)) {
      if (entry.kind === 'event') for (const [id, state] of statesFrom(entry)) states.set(id, state);
    }
  // The slot of a message is its current state: it overrides events.
  for (const slot of rising) {
    if (slot.kind === 'message') states.set(slot.id, { kind: 'head', head: toHead(slot) });
    else if (slot.kind === 'tombstone') states.set(slot.seq, { kind: 'gone' });
  }
  return states;
}

/** The states of older messages from an event about them. */
function statesFrom({ payload, hearers, about }: ReadEvent): (readonly [number, State])[] {
  const ids = (payload.message_ids ?? []) as readonly number[];
  if (payload.type === 'delete_message') {
    // `goneTo` is a move, which looks like a deletion to users who may not read the destination.
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
 * Reads the end of the log consistently, over the whole window if the extent allows it (`isComplete`). Usually one round
 * trip, since the container remembers how many slots the last one took; more if those are too few.
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
    const last = slots.at(-1);
    const range = { descending: true, limit: Math.min(limit, most - slots.length) };
    const { items, more } = await table.page(
      'slot',
      { realm },
      last === undefined ? range : { ...range, to: { seq: last.seq - 1 } },
    );
    slots.push(...items);
    isWhole = !more || (slots.at(-1)?.at ?? 0) < since;
    limit = Math.max(slots.length, 2 * expected(slots, now(), since));
  }
  const young = slots.findLastIndex(({ at }) => at >= since) + 1;
  cache.recentSlots.set(realm, isWhole ? young : expected(slots, now(), since));
  const read = (ids: readonly number[]) => loadHeads(table, realm, ids);
  return new RecentChanges(slots, young, isWhole, read);
}

/** Some spare slots, since the pace of the log varies. */
const withMargin = (slots: number): number => Math.ceil(1.25 * slots) + 10;

/** Estimates the slots in the window from the pace of those that were read, newest first. */
function expected(slots: readonly Slot[], now: number, since: number): number {
  const passed = Math.max(1, now - (slots.at(-1)?.at ?? now));
  return withMargin((slots.length * (now - since)) / passed);
}

/**
 * The current messages of a scope: those of its index, overridden by recent changes. One round trip; two if messages
 * moved there recently.
 */
export const currentMessages = (
  table: Table,
  realm: string,
  scope: MessageScope,
  recent: () => Promise<RecentChanges>,
): RangeReader => mergedReader(table, realm, scope, recent, (changes) => changes.headsIn(scope));

/** The same with ids and topics only. Always one round trip. */
export const currentIds = (
  table: Table,
  realm: string,
  scope: MessageScope,
  recent: () => Promise<RecentChanges>,
) => mergedReader<MessageLocation>(table, realm, scope, recent, (changes) => changes.locationsIn(scope));

const mergedReader =
  <W extends MessageLocation = MessageHead>(
    table: Table,
    realm: string,
    scope: MessageScope,
    recent: () => Promise<RecentChanges>,
    changedIn: (changes: RecentChanges) => readonly W[] | Promise<readonly W[]>,
  ) =>
  async (
    range: RangeRequest,
  ): Promise<{ readonly heads: readonly (W | MessageHead)[]; readonly until: number | undefined }> => {
    const [{ heads, until }, changes] = await Promise.all([
      indexedMessages(table, realm, scope)(range),
      recent(),
    ]);
    const unchanged = heads.filter(({ id }) => !changes.has(id));
    const changed = (await changedIn(changes)).filter(({ id }) => isWithin(range, until, id));
    return { heads: [...unchanged, ...changed], until };
  };

/** Whether an id is in the part of the range that was read. */
const isWithin = ({ from, to, side }: RangeRequest, until: RangeResult['until'], id: number): boolean =>
  from <= id && id <= to && (until === undefined || (side === 'older' ? id >= until : id <= until));
