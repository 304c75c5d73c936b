import { fill, type Log } from './log.ts';
import { dependsOnItems, entriesOf, KEPT, type ReadEntry, type Slot } from './slot.ts';

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

/** A cheap look for whether anything is written after `cursor`: half a read unit, and it may be told late. */
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
