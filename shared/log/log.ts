import { randomUUID } from 'node:crypto';
import { key } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { isPassing, isRefused } from '../table/write.ts';
import {
  dependsOnItems,
  entriesOf,
  expiry,
  KEPT,
  type ReadEntry,
  type Slot,
  type Tombstone,
} from './slot.ts';

/** The log of one organization, with what reading and writing it needs from the outside. */
export interface Log {
  readonly table: Table;
  readonly realm: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Waits some milliseconds. */
  readonly wait: (ms: number) => Promise<void>;
  /** Called when a reader filled a hole of so many slots: their writer died, or was slow. */
  readonly onHole?: (slots: number) => void;
}

/** The log of an organization. */
export const logOf = ({ table, now, wait }: Omit<Log, 'realm' | 'onHole'>, realm: string): Log => ({
  table,
  realm,
  now,
  wait,
});

/** The counter of an organization, which is one item. */
export interface Counter {
  /** The last number that was handed out. */
  readonly seq: number;
  /** When that was, and when numbers were handed out the time before, ms. Absent where an older release took them. */
  readonly at?: number;
  readonly before?: number;
  /** About how many messages there are: so many numbers were allocated for messages. */
  readonly messages?: number;
}

declare module '../table/keys.ts' {
  interface ItemTypes {
    counter: Counter;
  }
}

/** Log numbers that were allocated in one step: consecutive, in order. */
export interface Numbers extends ReadonlyArray<number> {
  /** No number was allocated for so long before these that no writer with a lower one is still alive. */
  readonly areAfterSilence?: true;
}

/**
 * Silence (ms) that no writer survives: DynamoDB takes no request whose signature is older than minutes. Shorter than
 * the time between the end of `KEPT` and the deletion of a slot, so that such a silence stands above every deleted slot.
 */
const SILENCE = 12 * 3600 * 1000;

/**
 * Allocates the next `count` numbers in one atomic step. They must be committed or released. `messages` of them will be
 * messages, which the same step counts, so that an estimate costs nothing.
 */
export async function allocate(log: Log, count: number, messages = 0): Promise<Numbers> {
  const at = log.now();
  const { seq, before = at } = await log.table.update(key('counter', { realm: log.realm }), {
    add: { seq: count, ...(messages > 0 && { messages }) },
    set: { at },
    setFrom: { before: { attribute: 'at', missing: at } },
  });
  const numbers = Array.from({ length: count }, (_, i) => seq - count + 1 + i);
  return at - before < SILENCE ? numbers : afterSilence(numbers);
}

const afterSilence = (numbers: readonly number[]): Numbers =>
  Object.assign([...numbers], { areAfterSilence: true } as const);

/** Splits numbers into blocks of these sizes. */
export function splitNumbers(numbers: Numbers, sizes: readonly number[]): Numbers[] {
  let start = 0;
  return sizes.map((size, i) => {
    const block = numbers.slice(start, start + size);
    start += size;
    return i === 0 && numbers.areAfterSilence ? afterSilence(block) : block;
  });
}

/** Joins adjacent blocks of numbers. */
export function joinNumbers(blocks: readonly Numbers[]): Numbers {
  const numbers = blocks.flat();
  return blocks[0]?.areAfterSilence ? afterSilence(numbers) : numbers;
}

/** Subtracts removed messages. Not in the transaction that removes them, since every writer updates the counter. */
export async function uncountMessages(log: Log, messages: number): Promise<void> {
  await log.table.update(key('counter', { realm: log.realm }), { add: { messages: -messages } });
}

/** Uses up one log number without an event, for a reader who needs a new one. */
export async function skipNumber(log: Log): Promise<void> {
  await release(log, await allocate(log, 1));
}

/** The result of filling a slot; `busy` is unknown: another writer is at it, or the reply was lost. */
export type Filled = 'filled' | 'taken' | 'busy';

/**
 * Puts a tombstone into a slot if it is empty. It covers `width` numbers (only their own writer may use more than 1) and
 * has the time `at` (ms; default now).
 */
export async function fill(
  log: Log,
  seq: number,
  { width = 1, at = log.now(), ...about }: Partial<Pick<Tombstone, 'width' | 'at' | 'isAfterSilence'>> = {},
): Promise<Filled> {
  const tombstone = {
    seq,
    width,
    at,
    kind: 'tombstone',
    commit: randomUUID(),
    expires: expiry(at),
    ...about,
  };
  try {
    await log.table.put(key('slot', { realm: log.realm, seq }), tombstone, { absent: true });
    return 'filled';
  } catch (error) {
    if (isRefused(error)) return 'taken';
    if (isPassing(error)) return 'busy';
    throw error;
  }
}

/** The attribute of the first slot of a block about the silence before it. */
export const silenceOf = ({ areAfterSilence }: Numbers): Pick<Tombstone, 'isAfterSilence'> =>
  areAfterSilence ? { isAfterSilence: true } : {};

/** Milliseconds before the next try: doubling, with full jitter, so that colliding writers spread. */
export const backoff = (attempt: number): number => Math.random() * Math.min(20 * 2 ** attempt, 500);

/** How long (ms) a writer tries to release a number whose slot stays busy. */
const RELEASE_TIMEOUT_MS = 1_000;

/**
 * Releases a block of numbers by one tombstone at its highest number. Every transaction of its writer writes that slot,
 * so none of them can commit afterwards. Returns false if the slot is taken, by a reader or by such a transaction.
 */
export async function release(log: Log, numbers: Numbers): Promise<boolean> {
  const top = numbers.at(-1);
  if (top === undefined) return true;
  const started = log.now();
  for (let attempt = 0; ; attempt++) {
    const state = await fill(log, top, { width: numbers.length, ...silenceOf(numbers) });
    if (state !== 'busy') return state === 'filled';
    if (log.now() - started > RELEASE_TIMEOUT_MS) break;
    await log.wait(backoff(attempt));
  }
  throw new Error(`slot ${top} of the log cannot be filled; readers will do it`);
}

/*
 * Reading the log (DESIGN 5, rules 2 and 3). Why what is delivered is exactly what was committed, in order:
 *
 * - A slot is written once, under the condition that it is empty. Every transaction of a writer has a slot at the
 *   highest of the writer's numbers and stands for the numbers below. So the first to fill that slot, writer or
 *   reader, decides for the whole block, and nothing that a reader has passed can change any more.
 * - A reader passes a number only when its slot is read or when it is filled. Holes are filled from the top: the
 *   slot on which a block depends is decided before anything below it is. A try that is still under way, a repeated
 *   one, or one whose reply was lost then finds the slot taken. No clock is trusted in this: the grace only spares
 *   living writers the trouble of new numbers. So it runs from when the reader first saw the hole, not by the clock of
 *   some writer: on a slow store a slot may be seen long after its writer noted the time.
 * - A query may show one slot of a transaction before another. That looks like a hole, and ends the run.
 * - What a query shows of the log can be ahead of the rest of its transaction. So an entry is passed only when the
 *   reader has known of it for `SETTLE`, if telling it or what comes after it takes other items of its transaction
 *   (`dependsOnItems`): that DynamoDB applies a transaction within this time of showing a part of it is the one
 *   assumption about time made here.
 * - Slots with events are deleted after `KEPT`, in no order. A hole below a slot of that age is passed unfilled:
 *   DynamoDB takes no request whose signature is older than minutes, so no writer of that time can still be alive. So is
 *   one below the first slot after a long silence, which says so itself: by a later deletion a hole gets a young slot
 *   behind it only where nobody had written for at least a day.
 */

/**
 * A reader fills a hole when it has known of it for so long (ms): longer than a transaction can take, since the client
 * of DynamoDB waits 2 s for it. A writer that is not dead has then committed by its first try, or is repeating it.
 */
export const GRACE = 2_500;

/**
 * A reader that sees a hole for the first time fills it when what stands behind it was written so long ago (ms). It is
 * for readers that look only once, like registrations and polls that do not wait: somebody must go on in the end.
 */
export const GIVEN_UP = 5_000;

/** How long (ms) parts of a transaction may stay unseen once another part was seen. */
export const SETTLE = 100;

/** A slot that was written this long ago (ms) is whole: no request to DynamoDB takes that long. */
export const WHOLE = 30_000;

/** Most slots that one look fills, so that a look ends; the next one goes on. */
const WIDEST = 500;

/** Most slots that one look reads. */
const LOOK = 200;

/** When (ms) a reader first saw the slots that are not surely whole, by number. A reader keeps one for all its looks. */
export type FirstSeen = Map<number, number>;

/** What a look at the log found after a cursor. */
export interface Run {
  /** The entries of the unbroken run, each with its number. */
  readonly entries: readonly ReadEntry[];
  /** The last number examined: everything up to here is committed for good. At least the cursor. */
  readonly head: number;
  /**
   * What ended the run: the end of what is written, the end of the page (look again), a hole, or an entry that must
   * settle (look again a little later).
   */
  readonly ended: 'end' | 'page' | 'hole' | 'settling';
}

/**
 * Reads the unbroken run after `cursor`. It stops at the first hole even if later slots are visible. A hole that
 * has stayed is filled on the spot and the run goes on behind it.
 */
export async function readRun(log: Log, cursor: number, firstSeen: FirstSeen, limit = LOOK): Promise<Run> {
  const { items, more } = await log.table.page(
    'slot',
    { realm: log.realm },
    { from: { seq: cursor + 1 }, limit },
  );
  const now = log.now();
  noteFirstSeen(items, firstSeen, now);
  const run = await follow(log, items, cursor, firstSeen, settled(firstSeen, now));
  return run.ended === 'end' && more ? { ...run, ended: 'page' } : run;
}

/** A cheap look for whether anything is written after `cursor`: half a read unit, and the answer may be late. */
export async function isAnythingAfter(log: Log, cursor: number): Promise<boolean> {
  const { items } = await log.table.page(
    'slot',
    { realm: log.realm },
    { from: { seq: cursor + 1 }, limit: 1, eventually: true },
  );
  return items.length > 0;
}

/** Follows the unbroken run through slots that were just read, in order, filling holes that have stayed. */
export async function follow(
  log: Log,
  slots: readonly Slot[],
  cursor: number,
  firstSeen: FirstSeen,
  mayPass: (slot: Slot) => boolean,
): Promise<Run> {
  const entries: ReadEntry[] = [];
  let head = cursor;
  for (const slot of slots) {
    const lowest = slot.seq - slot.width + 1;
    if (lowest > head + 1 && !(await closeHole(log, head + 1, slot, firstSeen)))
      return { entries, head, ended: 'hole' };
    if (!mayPass(slot)) return { entries, head, ended: 'settling' };
    head = slot.seq;
    entries.push(...entriesOf(slot).filter((entry) => entry.seq > cursor));
  }
  return { entries, head, ended: 'end' };
}

/**
 * Sees to the hole from `from` up to the slot that stands behind it, if it has stayed for its grace, beginning at
 * its top. Returns whether nothing can come there any more.
 */
async function closeHole(log: Log, from: number, behind: Slot, firstSeen: FirstSeen): Promise<boolean> {
  const now = log.now();
  const age = now - behind.at;
  if (behind.isAfterSilence || age >= KEPT) return true;
  // A writer whose clock is ahead must not stop the log until then: filling early is no harm.
  if (now - firstSight(firstSeen, behind.seq, now) < GRACE && Math.abs(age) < GIVEN_UP) return false;
  const top = behind.seq - behind.width;
  const lowest = Math.max(from, top - WIDEST + 1);
  // The tombstones are as old as the slot behind, so that the rest of a wide hole needs no grace of its own.
  for (let seq = top; seq >= lowest; seq--) {
    if ((await fill(log, seq, { at: behind.at })) !== 'filled') return false;
  }
  log.onHole?.(top - lowest + 1);
  return lowest === from;
}

/** Remembers when slots were first seen, those behind one that must settle too: they settle beside it. */
function noteFirstSeen(slots: readonly Slot[], firstSeen: FirstSeen, now: number): void {
  for (const { seq, at } of slots) {
    if (!firstSeen.has(seq) && now - at < WHOLE) firstSeen.set(seq, now);
  }
}

/**
 * Whether slots, asked for in order, may be passed at `now` (ms). One that depends on other items must have been known
 * for `SETTLE`, and so must every slot before it that this reader has seen: those may have closed a hole later.
 */
function settled(firstSeen: FirstSeen, now: number): (slot: Slot) => boolean {
  let latest = Number.NEGATIVE_INFINITY;
  return (slot) => {
    latest = Math.max(latest, firstSeen.get(slot.seq) ?? latest);
    return now - latest >= SETTLE || !dependsOnItems(slot);
  };
}

/** Since when (ms) a reader has known that something is written at this number or above, so that a hole shows below. */
function firstSight(firstSeen: FirstSeen, seq: number, now: number): number {
  let first = now;
  for (const [seen, at] of firstSeen) if (seen >= seq) first = Math.min(first, at);
  return first;
}
