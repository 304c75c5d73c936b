import { key } from '../table/keys.ts';
import { ignoreRefused } from '../table/outcome.ts';
import type { Commit } from './bulk.ts';
import { type Change, commit } from './commit.ts';
import { follow, type Log, logOf, type Numbers, SETTLE, WHOLE } from './log.ts';
import type { Slot } from './slot.ts';

/** Numbers between two checkpoints. */
const INTERVAL = 256;

/** Commits to the log of an organization, like a request. */
export const commitTo =
  (
    outside: Omit<Log, 'realm' | 'onHole'> & { readonly report: Parameters<typeof commitAndCheckpoint>[1] },
    realm: string,
  ): Commit =>
  (count, plan) =>
    commitAndCheckpoint(logOf(outside, realm), outside.report, count, plan);

/** Slots that the first query reads: usually all above the checkpoint. */
const TAIL = 320;

/**
 * Commits a change (`commit`). Every 256 numbers it also saves a checkpoint, so that the next registration reads few
 * slots. If only that fails, it is reported: the change is committed.
 */
export async function commitAndCheckpoint<T>(
  log: Log,
  report: (line: { readonly level: 'WARN'; readonly message: string; readonly error: string }) => void,
  count: number,
  plan: (numbers: readonly number[]) => Change<T>,
  reserved?: Promise<Numbers>,
): Promise<T> {
  const used = new Set<number>();
  const result = await commit(
    log,
    count,
    (numbers) => {
      for (const number of numbers) used.add(number);
      return plan(numbers);
    },
    reserved,
  );
  if ([...((await reserved) ?? []), ...used].some((seq) => seq % INTERVAL === 0)) {
    await saveCheckpoint(log).catch((error: unknown) =>
      report({ level: 'WARN', message: 'checkpoint not saved', error: String(error) }),
    );
  }
  return result;
}

/** The end of the unbroken run of the whole log. */
export interface StableHead {
  readonly seq: number;
  /** The newest message on the way there, if any. */
  readonly messageId?: number;
}

/**
 * Returns the cursor of a registration (DESIGN 5, rule 4): the end of the unbroken run of the whole log. Not the counter:
 * writers that took a number below it may still commit. It returns once everything up to the end can be read in full, so
 * that later reads see all of it. One round trip, while the checkpoint is near.
 */
export async function stableHead(log: Log): Promise<StableHead> {
  const { seq, newest, messageId } = await walk(log);
  if (log.now() - newest < WHOLE) await log.wait(SETTLE);
  return { seq, ...(messageId !== undefined && { messageId }) };
}

/** Moves the checkpoint to the end, so that the next walk is short. */
export async function saveCheckpoint(log: Log): Promise<void> {
  await walk(log);
}

interface Walk {
  readonly seq: number;
  /** When the newest of the slots was written, ms. */
  readonly newest: number;
  readonly messageId: number | undefined;
}

/** Walks from the checkpoint to the end, and moves the checkpoint there if it is far. */
async function walk(log: Log): Promise<Walk> {
  const checkpointKey = key('solid', log);
  const { realm } = log;
  const [stored, tail] = await Promise.all([
    log.table.get(checkpointKey),
    log.table.page('slot', { realm }, { descending: true, limit: TAIL }),
  ]);
  const checkpoint = stored?.seq ?? 0;
  const lowest = tail.items.at(-1);
  const reachesCheckpoint = !tail.more || (lowest !== undefined && lowest.seq - lowest.width <= checkpoint);
  let found = { seq: checkpoint, newest: 0, messageId: undefined } as Walk;
  if (reachesCheckpoint) {
    found = await step(log, tail.items.filter(({ seq }) => seq > checkpoint).reverse(), found);
  } else {
    for (let more = true; more; ) {
      const before = found.seq;
      const page = await log.table.page('slot', { realm }, { from: { seq: before + 1 }, limit: 1_000 });
      found = await step(log, page.items, found);
      more = page.more && found.seq > before;
    }
  }
  if (found.seq - checkpoint >= INTERVAL) {
    await log.table
      .update(checkpointKey, { set: { seq: found.seq } }, { below: { seq: found.seq } })
      // Another reader moved it further.
      .catch(ignoreRefused);
  }
  return found;
}

async function step(log: Log, slots: readonly Slot[], from: Walk): Promise<Walk> {
  const { head } = await follow(log, slots, from.seq, new Map(), () => true);
  const passed = slots.filter(({ seq }) => seq <= head);
  return {
    seq: head,
    newest: Math.max(from.newest, ...passed.map(({ at }) => at)),
    messageId: passed.findLast(({ kind }) => kind === 'message')?.seq ?? from.messageId,
  };
}
