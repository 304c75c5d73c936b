import { randomUUID } from 'node:crypto';
import { indexes, key, padded } from '../table/keys.ts';
import type { Item, Write } from '../table/write.ts';
import { isThrottled, type Outcome } from '../table/write.ts';
import { allocate, backoff, fill, type Log, type Numbers, release, silenceOf } from './log.ts';
import { type Entry, type EventEntry, expiry } from './slot.ts';

/** What a decision changes: the writes, and what the log tells of them, in order, one number for each entry. */
export interface Change<T> {
  readonly writes: readonly Write[];
  readonly entries: readonly Entry[];
  readonly result: T;
}

/** Most writes of one transaction: a limit of DynamoDB. */
export const MAX_WRITES = 100;

/**
 * A commit begins no further try after this long (ms): so long after it took its numbers a writer may still write its
 * slots. With the last try, and with giving its numbers back, it ends before its function does, so that it always tells
 * its outcome.
 */
export const WRITING = 5_000;

/** What was decided no longer holds: somebody else changed it in between. Read again, decide again. */
export class ConflictError extends Error {
  /** The items that refused, as they are now; undefined for one that does not exist. */
  readonly found: readonly (Item | undefined)[];

  constructor(found: readonly (Item | undefined)[]) {
    super('the state changed between the decision and its commit');
    this.name = 'ConflictError';
    this.found = found;
  }
}

/** A commit was outrun until its time was up. Nothing has happened; whoever asked may ask again. */
export class CommitTimeoutError extends Error {
  constructor() {
    super('a commit was outrun by others until its time was up');
    this.name = 'CommitTimeoutError';
  }
}

/**
 * Carries out a change and tells it: one transaction that puts the entries only where their slots are empty
 * (DESIGN 5, rule 1).
 *
 * `plan` gets `count` numbers and may use them as ids: entry i has number i. It must return as many entries, and
 * may be called again with other numbers when a reader filled one of the slots meanwhile. `taken` are numbers that
 * were taken ahead of time, to save a round trip.
 *
 * Throws `ConflictError` when a condition of the plan's own writes fails; nothing has changed then and the numbers are
 * given back. Throws `CommitTimeoutError` when others were faster until the time was up; nothing has changed either. When the time is up without an answer, the numbers are given back too, which decides the outcome: a
 * commit that throws has not happened and cannot happen any more, unless even that got no answer.
 */
export async function commit<T>(
  log: Log,
  count: number,
  plan: (numbers: readonly number[]) => Change<T>,
  taken?: Promise<Numbers>,
): Promise<T> {
  const started = log.now();
  const isLate = (): boolean => log.now() - started > WRITING;
  // The same in every try, so that a slot of ours is known even if an old try lands late.
  const mark = randomUUID();
  let numbers = await enoughNumbers(log, count, taken);
  for (;;) {
    const change = await planned(log, numbers, count, plan);
    const ending = await tryNumbers(log, numbers, change, mark, isLate);
    if (ending === 'committed') return change.result;
    if (isLate()) throw new CommitTimeoutError();
    numbers = await allocate(log, count);
  }
}

/**
 * The numbers that were taken ahead if they are enough, else a new block: a commit's numbers stand side by side.
 * More than enough is no waste, since a slot may stand for numbers that tell nothing.
 */
async function enoughNumbers(log: Log, count: number, taken: Promise<Numbers> | undefined): Promise<Numbers> {
  const ahead: Numbers = (await taken) ?? [];
  if (ahead.length >= count) return ahead;
  const [numbers] = await Promise.all([allocate(log, count), release(log, ahead)]);
  return numbers;
}

/** What the plan makes of the numbers; if it throws instead, they are given back. */
async function planned<T>(
  log: Log,
  numbers: Numbers,
  count: number,
  plan: (numbers: readonly number[]) => Change<T>,
): Promise<Change<T>> {
  try {
    const change = plan(numbers.slice(-count));
    if (change.entries.length !== count || count === 0) {
      throw new Error(`a plan for ${count} numbers has ${change.entries.length} entries`);
    }
    return change;
  } catch (error) {
    await release(log, numbers).catch(ignored);
    throw error;
  }
}

/**
 * Tries to commit a change under these numbers until that is decided. `outrun` means that it did not happen and
 * cannot: a reader took the writer for dead and filled a slot, or an item was changed under a higher number.
 *
 * Every try is a request of its own, with the time at which it was made. A repetition of one that had worked
 * unheard meets its own slot and knows it by the mark, so that no token is needed to tell them apart, nor its ten
 * minutes to be kept.
 */
async function tryNumbers(
  log: Log,
  numbers: Numbers,
  change: Change<unknown>,
  mark: string,
  isLate: () => boolean,
): Promise<'committed' | 'outrun'> {
  const top = numbers.at(-1) as number;
  let writes = change.writes;
  let isKnown = true;
  for (let attempt = 0; ; attempt++) {
    const slots = slotWrites(log, numbers, change.entries, mark);
    const outcome = await tryOnce(log, numbers, [...slots, ...writes.map((write) => ordered(write, top))]);
    if (outcome.state === 'done') return 'committed';
    if (outcome.state === 'unsure') {
      isKnown &&= isThrottled(outcome.cause);
      if (!isLate()) {
        await log.wait(backoff(attempt));
        continue;
      }
      const abandoned = abandon(log, numbers, mark);
      // Where every try was refused, nothing has happened, whether or not there is room for giving the numbers back.
      if (await (isKnown ? abandoned.catch(() => false) : abandoned)) return 'committed';
      throw outcome.cause;
    }
    const { refused } = outcome;
    const isOwn = refused.some(({ index, item }) => index < slots.length && item?.commit === mark);
    if (isOwn) return 'committed';
    const refusedWrites = refused.map(({ index, item }) => ({ index: index - slots.length, item }));
    const isFilled = refused.some(({ index }) => index < slots.length);
    const amended = isFilled ? undefined : withFallbacks(writes, refusedWrites);
    if (amended !== undefined) {
      writes = amended;
      continue;
    }
    if (await abandon(log, numbers, mark)) return 'committed';
    const isBehind = refusedWrites.some(({ index, item }) => isOutrun(writes[index], item, top));
    if (isFilled || isBehind) return 'outrun';
    throw new ConflictError(refused.map(({ item }) => item));
  }
}

/** Readers fill what could not be given back; the error at hand is the one to tell. */
const ignored = (): void => {};

/** One request. Where it fails for a reason that will not pass, the numbers are given back. */
async function tryOnce(log: Log, numbers: Numbers, writes: readonly Write[]): Promise<Outcome> {
  try {
    return await log.table.transact(writes, randomUUID());
  } catch (error) {
    await release(log, numbers).catch(ignored);
    throw error;
  }
}

/**
 * Makes sure that no try under these numbers can commit any more, by filling the slot that all of them need.
 * Returns true if one of them has committed already. Where a reader was faster, the rest of its work is done here.
 */
async function abandon(log: Log, numbers: Numbers, mark: string): Promise<boolean> {
  if (await release(log, numbers)) return false;
  const top = numbers.at(-1) as number;
  const slot = await log.table.get('slot', { realm: log.realm, seq: top });
  if (slot?.commit === mark) return true;
  // Our own tombstone, whose reply got lost: it stands for all of them.
  if (slot?.kind === 'tombstone' && slot.width === numbers.length) return false;
  for (const seq of numbers.slice(0, -1).reverse()) await fill(log, seq);
  return false;
}

/** Puts the second choice in the place of each refused write, if every one of them has one. */
function withFallbacks(
  writes: readonly Write[],
  refused: readonly { readonly index: number }[],
): readonly Write[] | undefined {
  const amended: Write[] = [...writes];
  for (const { index } of refused) {
    const second = writes[index]?.fallback;
    if (second === undefined) return undefined;
    amended[index] = second;
  }
  return amended;
}

/** The write with what `lastWriterWins` asks for: the number of the change, and that it is not below the last one. */
function ordered(write: Write, top: number): Write {
  if (!('lastWriterWins' in write) || !write.lastWriterWins) return write;
  const when = { ...write.when, below: { ...write.when?.below, changed: top } };
  return 'put' in write
    ? { ...write, item: { ...write.item, changed: top }, when }
    : { ...write, change: { ...write.change, set: { ...write.change.set, changed: top } }, when };
}

/** Whether a write was refused because the item was changed under a higher number meanwhile. */
const isOutrun = (write: Write | undefined, item: Item | undefined, top: number): boolean =>
  write !== undefined &&
  'lastWriterWins' in write &&
  write.lastWriterWins === true &&
  (item?.changed as number) > top;

/**
 * Packs the entries of a commit into slots: events go together, a message closes its slot since the slot is its
 * own. Each slot stands at the highest of its numbers; the first one also stands for numbers that were taken in
 * vain. The last slot always stands at the highest number of all: it decides for the others.
 */
export function slotWrites(log: Log, numbers: Numbers, entries: readonly Entry[], mark: string): Write[] {
  const at = log.now();
  const spare = numbers.length - entries.length;
  const writes: Write[] = [];
  let events: Omit<EventEntry, 'kind'>[] = [];
  entries.forEach((entry, i) => {
    const seq = numbers[spare + i] as number;
    if (entry.kind === 'event') {
      const { kind, ...event } = entry;
      events.push(event);
      if (i < entries.length - 1) return;
    }
    const width =
      (entry.kind === 'message' ? events.length + 1 : events.length) + (writes.length === 0 ? spare : 0);
    const slot = { seq, width, at, commit: mark, ...(writes.length === 0 && silenceOf(numbers)) };
    const item =
      entry.kind === 'event'
        ? { ...slot, kind: 'event', events, expires: expiry(at) }
        : {
            ...slot,
            kind: 'message',
            ...entry.message,
            id: seq,
            ...indexKeys(log.realm, seq, entry.message),
            ...(events.length > 0 && { before: events }),
          };
    writes.push({ put: key('slot', { realm: log.realm, seq }), item, when: { absent: true } });
    events = [];
  });
  return writes;
}

/** The index attributes of a message: from here and from moves they come, nowhere else. */
export const indexKeys = (
  realm: string,
  id: number,
  message: { readonly channelId?: number; readonly conversation: string },
): Item => ({
  ...(message.channelId !== undefined && {
    channelKey: indexes.channel.key(realm, message.channelId),
    channelSort: padded(id),
  }),
  conversationKey: indexes.conversation.key(realm, message.conversation),
  conversationSort: padded(id),
});
