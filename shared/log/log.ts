import { randomUUID } from 'node:crypto';
import { key } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { isPassing, isRefused } from '../table/write.ts';
import { expiry, type Tombstone } from './slot.ts';

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
