import { randomUUID } from 'node:crypto';
import { indexes, key, padded } from '../table/keys.ts';
import { isThrottled, type Outcome } from '../table/outcome.ts';
import { type Item, ownersOf, type Write } from '../table/write.ts';
import { allocate, backoff, fill, type Log, type Numbers, release, silenceOf } from './log.ts';
import { type Entry, type EventEntry, expiry } from './slot.ts';

/** What a decision changes: the writes, and the entries of the log in order, one number for each. */
export interface Change<T> {
  readonly writes: readonly Write[];
  readonly entries: readonly Entry[];
  readonly result: T;
}

/** Most writes of one transaction: a limit of DynamoDB. */
export const MAX_WRITES = 100;

/**
 * How long (ms) after it took its numbers a commit may begin another try. It ends before its function does, with time to
 * release its numbers, so that the outcome is always known.
 */
export const WRITING = 5_000;

/** Another request changed what the decision was based on. Read again, decide again. */
export class ConflictError extends Error {
  /** The items that refused, as they are now; undefined for one that does not exist. */
  readonly found: readonly (Item | undefined)[];

  constructor(found: readonly (Item | undefined)[]) {
    super('the state changed between the decision and its commit');
    this.name = 'ConflictError';
    this.found = found;
  }
}

/** Other requests were faster until the time was up. The transaction was not committed; the request may be repeated. */
export class CommitTimeoutError extends Error {
  constructor() {
    super('other requests were faster until the time of a commit was up');
    this.name = 'CommitTimeoutError';
  }
}

/**
 * Commits a change with its events: one transaction that puts the entries only where their slots are empty (DESIGN 5,
 * rule 1).
 *
 * `plan` gets `count` numbers and may use them as ids: entry i has number i. It must return as many entries, and may be
 * called again with other numbers if a reader filled one of the slots. `taken` are numbers that were reserved to save a
 * round trip.
 *
 * Throws `ConflictError` when a condition of the plan's own writes fails, and `CommitTimeoutError` when other requests
 * were faster until the time was up. A commit that throws has not happened and cannot happen any more, because its
 * numbers are released, unless even that got no reply.
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
 * The reserved numbers if they are enough, else a new block, because a commit's numbers must be consecutive. Too many do
 * no harm, since a slot may cover numbers without an entry.
 */
async function enoughNumbers(log: Log, count: number, taken: Promise<Numbers> | undefined): Promise<Numbers> {
  const ahead: Numbers = (await taken) ?? [];
  if (ahead.length >= count) return ahead;
  const [numbers] = await Promise.all([allocate(log, count), release(log, ahead)]);
  return numbers;
}

/** The change that the plan makes with the numbers. If it throws, they are released. */
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
 * Every try is a new request with a new token. If an earlier one had worked and its reply was lost, the next one finds
 * its own slot and recognizes it by the mark.
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
    const slots = slotWrites(log, numbers, change.entries, mark, ownersOf(writes));
    const outcome = await tryOnce(log, numbers, [...slots, ...writes.map((write) => ordered(write, top))]);
    if (outcome.state === 'done') return 'committed';
    if (outcome.state === 'unsure') {
      isKnown &&= isThrottled(outcome.cause);
      if (!isLate()) {
        await log.wait(backoff(attempt));
        continue;
      }
      const abandoned = abandon(log, numbers, mark);
      // If every try was throttled, nothing has happened, even if the numbers cannot be released.
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

/** Readers fill what could not be released; the first error is the one to throw. */
const ignored = (): void => {};

/**
 * One request. If it fails for a reason that will not pass, the numbers are released. A lone slot, as of an event about
 * nothing that is stored, needs no transaction: it then takes half the write units.
 */
async function tryOnce(log: Log, numbers: Numbers, writes: readonly Write[]): Promise<Outcome> {
  const [first, ...others] = writes;
  try {
    if (others.length === 0 && first !== undefined && 'put' in first) return await log.table.putAlone(first);
    return await log.table.transact(writes, randomUUID(), numbers.at(-1));
  } catch (error) {
    await release(log, numbers).catch(ignored);
    throw error;
  }
}

/**
 * Makes sure that no try under these numbers can commit any more, by filling the slot that all of them need. Returns true
 * if one of them has committed already. If a reader filled that slot first, the others are filled here.
 */
async function abandon(log: Log, numbers: Numbers, mark: string): Promise<boolean> {
  if (await release(log, numbers)) return false;
  const top = numbers.at(-1) as number;
  const slot = await log.table.get('slot', { realm: log.realm, seq: top });
  if (slot?.commit === mark) return true;
  // Our own tombstone, whose reply was lost: it stands for all of them.
  if (slot?.kind === 'tombstone' && slot.width === numbers.length) return false;
  for (const seq of numbers.slice(0, -1).reverse()) await fill(log, seq);
  return false;
}

/** Replaces each refused write by its fallback, if all of them have one. */
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

/** Adds to a write with `lastWriterWins` the number of the change, and the condition that the last one is not higher. */
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
 * Packs the entries of a commit into slots: events share one, and a message closes its own. Each slot has the highest of
 * its numbers; the first one also covers numbers that were not needed. The last slot always has the highest number of
 * all, so it decides for the others. `owners` is what `ownersOf` says of the other writes of the commit.
 */
export function slotWrites(
  log: Log,
  numbers: Numbers,
  entries: readonly Entry[],
  mark: string,
  owners?: readonly number[],
): Write[] {
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
    const slot = {
      ...{ seq, width, at, commit: mark },
      ...(owners && { owners }),
      ...(writes.length === 0 && silenceOf(numbers)),
    };
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

/** The index attributes of a message, for commits and for moves. */
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

/** Most tries. */
const MAX_TRIES = 16;

/** No further try begins after this long (ms), so that a commit ends before its function does. */
const TIMEOUT_MS = 5_000;

/** Tries that are made even when the time is up: the first may have finished the work of another request. */
const MIN_TRIES = 4;

/** Longest pause (ms) between two tries. */
const MAX_PAUSE_MS = 500;

/**
 * Calls `attempt`, which reads, decides and commits, until its commit meets no conflict.
 *
 * `attempt` must read again each time, since the same decision would meet the same conflict. Handlers are inside such a
 * loop already (`serve`), so they just throw. A lost reply is not a conflict: `carryOut` and `commit` send the same
 * transaction again.
 *
 * @param attempt gets the number of the try, from 1
 * @param maxTries fewer than usual, where there is another way after some tries
 * @throws what `attempt` throws; `ConflictError` when the tries or the time are used up
 */
export async function retryOnConflict<T>(
  { wait, now }: Pick<Log, 'wait' | 'now'>,
  attempt: (number: number) => Promise<T>,
  maxTries = MAX_TRIES,
): Promise<T> {
  const ends = now() + TIMEOUT_MS;
  for (let number = 1; ; number++) {
    try {
      return await attempt(number);
    } catch (error) {
      const isOver = number >= maxTries || (number >= MIN_TRIES && now() > ends);
      if (!(error instanceof ConflictError) || isOver) throw error;
      // Random pauses that double, so that the same two do not collide again.
      await wait(Math.random() * Math.min(10 * 2 ** number, MAX_PAUSE_MS));
    }
  }
}
