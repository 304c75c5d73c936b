import { randomUUID } from 'node:crypto';
import { key } from '../table/keys.ts';
import { isPassing, isRefused } from '../table/outcome.ts';
import type { Table } from '../table/table.ts';
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
  /** Called with the number of slots when a reader fills a hole: their writer died or was slow. */
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
  /** The last number that was allocated. */
  readonly seq: number;
  /** Times (ms) of the last allocation and of the one before. Missing if an older release made it. */
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
  /** Before these, nothing was allocated for so long that no writer with a lower number is still alive. */
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
    // The first try may have been done without a reply, so there is always a second one, however slow it was.
    if (attempt > 0 && log.now() - started > RELEASE_TIMEOUT_MS) break;
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
 * - A reader passes a number only when it has read the slot or filled it. Holes are filled from the top, so that the slot
 *   that decides a block is filled before those below it. An attempt that is still running, a repeated one, or one whose
 *   reply was lost then finds the slot taken. No clock is trusted here: the grace period only saves live writers from
 *   needing new numbers. It starts when the reader first sees the hole, not at a time that a writer noted, because a slow
 *   store may show a slot long after that.
 * - A query may show one slot of a transaction before another. That looks like a hole, and ends the run.
 * - A query of the log can be ahead of the other items of a transaction. If an entry, or a later one, is read together with
 *   such items (`dependsOnItems`), it is passed only when the reader has known it for `SETTLE`. This is the only assumption
 *   about time: DynamoDB applies the whole transaction within `SETTLE` after showing a part of it.
 * - Slots with events are deleted after `KEPT`, in no order. A hole below a slot of that age is passed unfilled, because
 *   DynamoDB refuses signatures older than some minutes, so no writer of that time is alive. The same holds below the first
 *   slot after a long silence, which is marked: a deletion can leave a hole below a young slot only after a day without
 *   writes.
 */

/**
 * How long (ms) a reader knows of a hole before it fills it. Longer than a transaction takes, since the client of DynamoDB
 * waits 2 s. By then a live writer has committed, or is repeating its attempt.
 */
export const GRACE = 2_500;

/**
 * The age (ms) of the slot behind a hole at which a reader fills it at first sight. Registrations and polls that do not
 * wait look only once, and must get past the hole too.
 */
export const GIVEN_UP = 5_000;

/** How long (ms) parts of a transaction may stay unseen once another part was seen. */
export const SETTLE = 100;

/** A slot that was written this long ago (ms) is whole: no request to DynamoDB takes that long. */
export const WHOLE = 30_000;

/** Most slots that one read fills; the next read continues. */
const WIDEST = 500;

/** Most slots of one read. */
const LOOK = 200;

/** When (ms) a reader first saw each slot that may not be whole yet, by number. A reader keeps one map for all its reads. */
export type FirstSeen = Map<number, number>;

/** The result of reading the log after a cursor. */
export interface Run {
  /** The entries of the unbroken run, each with its number. */
  readonly entries: readonly ReadEntry[];
  /** The last number read: nothing up to here can change any more. At least the cursor. */
  readonly head: number;
  /**
   * What ended the run: the end of the log, the end of the page (read on), a hole, or an entry that must settle (read
   * again a little later).
   */
  readonly ended: 'end' | 'page' | 'hole' | 'settling';
}

/**
 * Reads the unbroken run after `cursor`. It stops at the first hole even if later slots are visible, unless the hole is old
 * enough to be filled.
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

/** Whether anything is written after `cursor`. Takes half a read unit; eventually consistent. */
export async function isAnythingAfter(log: Log, cursor: number): Promise<boolean> {
  const { items } = await log.table.page(
    'slot',
    { realm: log.realm },
    { from: { seq: cursor + 1 }, limit: 1, eventually: true },
  );
  return items.length > 0;
}

/** Follows the unbroken run through slots that were just read, in order, and fills old holes. */
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
 * Fills the hole from `from` up to the slot behind it, beginning at its top, if its grace period is over. Returns whether
 * the hole is closed for good.
 */
async function closeHole(log: Log, from: number, behind: Slot, firstSeen: FirstSeen): Promise<boolean> {
  const now = log.now();
  const age = now - behind.at;
  if (behind.isAfterSilence || age >= KEPT) return true;
  // The clock of a writer may be ahead, and must not stop the log until then. Filling early does no harm.
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

/** Notes when slots were first seen, including those behind an entry that must settle: they settle at the same time. */
function noteFirstSeen(slots: readonly Slot[], firstSeen: FirstSeen, now: number): void {
  for (const { seq, at } of slots) {
    if (!firstSeen.has(seq) && now - at < WHOLE) firstSeen.set(seq, now);
  }
}

/**
 * Returns a function that says, for slots in order, whether they may be passed at `now` (ms). A slot that depends on other
 * items must have been known for `SETTLE`, and so must all slots before it, which may have closed a hole later.
 */
function settled(firstSeen: FirstSeen, now: number): (slot: Slot) => boolean {
  let latest = Number.NEGATIVE_INFINITY;
  return (slot) => {
    latest = Math.max(latest, firstSeen.get(slot.seq) ?? latest);
    return now - latest >= SETTLE || !dependsOnItems(slot);
  };
}

/** When (ms) the reader first saw a slot at this number or above, and thereby any hole below it. */
function firstSight(firstSeen: FirstSeen, seq: number, now: number): number {
  let first = now;
  for (const [seen, at] of firstSeen) if (seen >= seq) first = Math.min(first, at);
  return first;
}
