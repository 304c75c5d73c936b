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
  /** The newest message among the slots that were read on the way there, if any. */
  readonly messageId?: number;
}

/** What a container remembers of the end of a log: it never reads again what is below. */
export interface KnownHead extends StableHead {
  /** When everything up to here could be read in full, at the latest; ms. */
  readonly whole: number;
}

/** What a registration has to say about itself. */
interface HeadReader {
  /** The heads that the container remembers, by realm. */
  readonly heads?: {
    readonly get: (realm: string) => KnownHead | undefined;
    readonly set: (realm: string, head: KnownHead) => void;
  };
  /** The users for whom it reads the state. Without them, it is for everybody's. */
  readonly userIds?: readonly number[];
}

/**
 * Returns the cursor of a registration (DESIGN 5, rule 4): the end of the unbroken run of the whole log. Not the counter:
 * writers that took a number below it may still commit. It returns once everything up to the end can be read in full, so
 * that later reads see all of it. With `userIds`, all that is read for these users: that is at once, unless something of
 * theirs, or something for many, was written lately. One round trip, while the checkpoint or the remembered head is near.
 */
export async function stableHead(log: Log, { heads, userIds }: HeadReader = {}): Promise<StableHead> {
  const known = heads?.get(log.realm);
  const { slots, isAll, head } = await walk(log, known);
  const now = log.now();
  const isOld = ({ at }: Slot): boolean => now - at >= WHOLE;
  const young = slots.filter((slot) => slot.kind !== 'tombstone' && !isOld(slot));
  // Of those that were not read, nothing is known but that they are older.
  const areOthersOld = isAll || slots.length === 0 || isOld(slots.at(-1) as Slot);
  const isWholeFor = (touches: (owners: readonly number[]) => boolean): boolean =>
    areOthersOld && young.every(({ owners }) => owners !== undefined && !touches(owners));
  const isWhole = isWholeFor((owners) => owners.length > 0);
  heads?.set(log.realm, { ...head, whole: Math.max(known?.whole ?? 0, isWhole ? now : now + SETTLE) });
  const isWholeForThem = isWholeFor((owners) => !userIds || owners.some((id) => userIds.includes(id)));
  if (!isWholeForThem || now < (known?.whole ?? 0)) await log.wait(SETTLE);
  return head;
}

/** Moves the checkpoint to the end, so that the next walk is short. */
export async function saveCheckpoint(log: Log): Promise<void> {
  await walk(log);
}

interface Walk {
  readonly head: StableHead;
  /** The last slots of the log, newest first. */
  readonly slots: readonly Slot[];
  /** Whether these are all above the remembered head. */
  readonly isAll: boolean;
}

/** Walks from the checkpoint, or the remembered head, to the end, and moves the checkpoint there if it is far. */
async function walk(log: Log, known?: StableHead): Promise<Walk> {
  const checkpointKey = key('solid', log);
  const { realm } = log;
  const [stored, tail] = await Promise.all([
    log.table.get(checkpointKey),
    log.table.page(
      'slot',
      { realm },
      { from: { seq: (known?.seq ?? 0) + 1 }, descending: true, limit: TAIL },
    ),
  ]);
  const checkpoint = stored?.seq ?? 0;
  const { items: slots, more } = tail;
  let seq = Math.max(checkpoint, known?.seq ?? 0);
  const lowest = slots.at(-1);
  const reachesDown = !more || (lowest !== undefined && lowest.seq - lowest.width <= seq);
  if (reachesDown) {
    const above = slots.filter((slot) => slot.seq > seq).reverse();
    seq = await endOf(log, above, seq);
  } else {
    for (let goesOn = true; goesOn; ) {
      const before = seq;
      const page = await log.table.page('slot', { realm }, { from: { seq: before + 1 }, limit: 1_000 });
      seq = await endOf(log, page.items, before);
      goesOn = page.more && seq > before;
    }
  }
  if (seq - checkpoint >= INTERVAL) {
    await log.table
      .update(checkpointKey, { set: { seq } }, { below: { seq } })
      // Another reader moved it further.
      .catch(ignoreRefused);
  }
  const newest = slots.find((slot) => slot.kind === 'message' && slot.seq <= seq)?.seq;
  const messageId = newest ?? known?.messageId;
  return { head: { seq, ...(messageId !== undefined && { messageId }) }, slots, isAll: !more };
}

/** The end of the unbroken run through slots in rising order. */
async function endOf(log: Log, slots: readonly Slot[], from: number): Promise<number> {
  const { head } = await follow(log, slots, from, new Map(), () => true);
  return head;
}
