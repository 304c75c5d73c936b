import type { Table } from '../table/table.ts';
import type { Slot } from './slot.ts';

/** Places of the log that are looked at in one round trip. */
const PROBES = 32;

/** When (ms) a slot was written; for a message the second that clients see. */
const timeOf = (slot: Slot): number => (slot.kind === 'message' ? slot.timestamp * 1_000 : slot.at);

/**
 * Finds the first number of the log at or after a time (ms): a number after all others if there is none. Numbers rise with
 * time, but for the moments between two writers. One round trip for the end of the log, then one for each factor of 33: four
 * for a million numbers.
 */
export async function numberAt(table: Table, realm: string, time: number): Promise<number> {
  const [newest] = (await table.page('slot', { realm }, { descending: true, limit: 1 })).items;
  if (newest === undefined) return 1;
  if (timeOf(newest) < time) return newest.seq + 1;
  let found = newest.seq;
  // The numbers that may still be the first.
  let [low, high] = [1, newest.seq - 1];
  while (low <= high) {
    const step = Math.max(1, Math.ceil((high - low + 1) / PROBES));
    const starts = Array.from({ length: Math.ceil((high - low + 1) / step) }, (_, i) => low + i * step);
    const slots = await Promise.all(starts.map((start) => firstFrom(table, realm, start, high)));
    const at = slots.findIndex((slot) => slot === undefined || timeOf(slot) >= time);
    const before = slots[at < 0 ? slots.length - 1 : at - 1];
    if (at >= 0) {
      found = slots[at]?.seq ?? found;
      high = (starts[at] ?? low) - 1;
    }
    low = before === undefined ? high + 1 : before.seq + 1;
  }
  return found;
}

/** The first slot from one number to another. */
async function firstFrom(table: Table, realm: string, from: number, to: number): Promise<Slot | undefined> {
  const range = { from: { seq: from }, to: { seq: to }, limit: 1, eventually: true };
  return (await table.page('slot', { realm }, range)).items[0];
}
