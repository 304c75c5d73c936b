import { keyOf, type Write } from '../table/write.ts';
import type { Commit } from './bulk.ts';
import { MAX_WRITES } from './commit.ts';
import type { EventEntry } from './slot.ts';

/** A part of a change that is whole by itself, with what clients are told of it. */
export interface Step {
  readonly writes: readonly Write[];
  readonly entries: readonly EventEntry[];
  /**
   * What it rests on. Where another step that is done with it writes the same item, that write holds it; so do two
   * steps that rest on the same.
   */
  readonly held?: readonly Write[];
}

/** Most writes of one step: a transaction also puts the slot that tells it. */
export const MAX_IN_STEP = MAX_WRITES - 1;

/**
 * Carries out steps one after another, as many as one transaction takes at a time. Few steps are all or nothing;
 * of many, those that come first are done first, and whoever asks again does the rest.
 */
export async function commitInOrder(commit: Commit, steps: readonly Step[]): Promise<void> {
  for (const batch of batchesOf(steps)) {
    const writes = withHeld(batch);
    const entries = batch.flatMap((step) => step.entries);
    await commit(entries.length, () => ({ writes, entries, result: undefined }));
  }
}

/** The writes of the steps, and what they rest on: an item is written once in a transaction. */
function withHeld(batch: readonly Step[]): Write[] {
  const writes = batch.flatMap((step) => step.writes);
  const known = new Set(writes.map(nameOf));
  for (const write of batch.flatMap(({ held = [] }) => held)) {
    if (known.has(nameOf(write))) continue;
    known.add(nameOf(write));
    writes.push(write);
  }
  return writes;
}

const nameOf = (write: Write): string => JSON.stringify(keyOf(write));

const sizeOf = ({ writes, held = [] }: Step): number => writes.length + held.length;

function batchesOf(steps: readonly Step[]): Step[][] {
  const batches: Step[][] = [];
  let room = 0;
  for (const step of steps) {
    const batch = batches.at(-1);
    if (batch && sizeOf(step) <= room) batch.push(step);
    else {
      batches.push([step]);
      room = MAX_IN_STEP;
    }
    room -= sizeOf(step);
  }
  return batches;
}
