import { randomUUID } from 'node:crypto';
import { key } from '../table/keys.ts';
import { isPassing, isRefused } from '../table/outcome.ts';
import type { Table } from '../table/table.ts';
import { expiry, type Tombstone } from './slot.ts';

/** The log of one organization, with what reading and writing it needs from the outside. */
export interface Log {
  readonly table: Table;
  readonly realm: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Waits some milliseconds. */
  readonly wait: (ms: number) => Promise<void>;
  /** Told when a reader filled a hole, of so many slots: their writer died, or was slow. */
  readonly onHole?: (slots: number) => void;
}

/** The counter of an organization, which is one item. */
export interface Counter {
  /** The last number that was handed out. */
  readonly seq: number;
  /** When that was, and when numbers were handed out the time before, ms. Absent where an older release took them. */
  readonly at?: number;
  readonly before?: number;
  /** About how many messages there are: numbers were taken for so many. Absent where there was none yet. */
  readonly messages?: number;
}

declare module '../table/keys.ts' {
  interface ItemTypes {
    counter: Counter;
  }
}

/** Numbers of the log that were taken in one step, so that they stand side by side, in order. */
export interface Numbers extends ReadonlyArray<number> {
  /** Nobody had taken a number for so long before the first of these that no writer below it is still alive. */
  readonly areAfterSilence?: true;
}

/**
 * Silence (ms) that no writer survives: DynamoDB takes no request whose signature is older than minutes. Shorter than
 * the time between the end of `KEPT` and the deletion of a slot, so that such a silence stands above every deleted slot.
 */
const SILENCE = 12 * 3600 * 1000;

/**
 * Takes the next `count` numbers by one atomic step. Numbers that are taken must be committed or released. Of how many
 * of them messages will be made is counted by the same step, so that an estimate costs nothing.
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

/** Blocks of these sizes out of numbers that were taken in one step. */
export function splitNumbers(numbers: Numbers, sizes: readonly number[]): Numbers[] {
  let start = 0;
  return sizes.map((size, i) => {
    const block = numbers.slice(start, start + size);
    start += size;
    return i === 0 && numbers.areAfterSilence ? afterSilence(block) : block;
  });
}

/** The same numbers as one block again; blocks stand side by side. */
export function joinNumbers(blocks: readonly Numbers[]): Numbers {
  const numbers = blocks.flat();
  return blocks[0]?.areAfterSilence ? afterSilence(numbers) : numbers;
}

/** Notes that so many messages are gone. Apart from their removal, since the counter is everybody's. */
export async function uncountMessages(log: Log, messages: number): Promise<void> {
  await log.table.update(key('counter', { realm: log.realm }), { add: { messages: -messages } });
}

/**
 * Moves the end of the log on by one number that tells nothing, for a reader who needs a new one. A number that could
 * not be given back is a hole like any other.
 */
export async function skipNumber(log: Log): Promise<void> {
  await release(log, await allocate(log, 1));
}

/** What became of a slot that was to be filled; `busy` is not decided: somebody is at it, or no reply came. */
export type Filled = 'filled' | 'taken' | 'busy';

/**
 * Puts a tombstone where a slot is still empty; one that is taken stays as it is. The tombstone stands for `width`
 * numbers, which only their own writer may give back at once, and carries the time `at` (ms; now unless said).
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

/** What the first slot of a block says of the silence before it. */
export const silenceOf = ({ areAfterSilence }: Numbers): Pick<Tombstone, 'isAfterSilence'> =>
  areAfterSilence ? { isAfterSilence: true } : {};

/** Milliseconds before the next try: doubling, with full jitter, so that colliding writers spread. */
export const backoff = (attempt: number): number => Math.random() * Math.min(20 * 2 ** attempt, 500);

/** How long (ms) a writer tries to give back a number whose slot stays busy. */
const PATIENCE = 1_000;

/**
 * Gives back a block of numbers by one tombstone at its highest, where every transaction of its writer has a slot:
 * once that is filled, none of them can commit any more. Returns false when that slot is taken, by a reader or by
 * such a transaction.
 */
export async function release(log: Log, numbers: Numbers): Promise<boolean> {
  const top = numbers.at(-1);
  if (top === undefined) return true;
  const started = log.now();
  for (let attempt = 0; ; attempt++) {
    const state = await fill(log, top, { width: numbers.length, ...silenceOf(numbers) });
    if (state !== 'busy') return state === 'filled';
    if (log.now() - started > PATIENCE) break;
    await log.wait(backoff(attempt));
  }
  throw new Error(`slot ${top} of the log cannot be filled; readers will do it`);
}
