import { traceOf } from '../../kernel/errors.ts';
/**
 * The outbox: what is left to be done of a change that is committed, because it takes more round trips than its
 * request has, or grows with the people. What is left is put into the table by the transaction of the change itself,
 * so that it is there if and only if the change is. After the commit the request wakes the worker; where that fails,
 * or the function dies before it, the sweep does so some minutes later.
 *
 * A message of the queue only says where to look, so it may come twice, late or never. Whatever the worker does is
 * held, in one transaction, to not having been done yet; what is done is taken out of the outbox, and a message that
 * comes after that finds nothing.
 */

import type { Outside, Queues } from '../../kernel/outside.ts';
import { MAX_WRITES } from '../../log/commit.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';

/** The queue that wakes the worker, and the worker's own name. */
export const OUTBOX = 'outbox';

/** What a task of each kind says. Who leaves tasks of a kind adds their type here, as in `ItemTypes` of the table. */
// biome-ignore lint/suspicious/noEmptyInterface: those who leave tasks fill it
export interface Tasks {}
export type TaskKind = keyof Tasks;

/** A job, which may be left in parts by several transactions of one request: what a message of the queue says. */
export interface Job<K extends TaskKind = TaskKind> {
  readonly realm: string;
  readonly kind: K;
  readonly job: string;
}

interface Part<K extends TaskKind> extends Job<K> {
  readonly part: number;
  /** When it was left, ms. */
  readonly at: number;
  /** Seconds: DynamoDB removes what nobody could do. */
  readonly expires: number;
}

type AnyLeft = { [K in TaskKind]: Part<K> & Tasks[K] }[TaskKind];

/** A part of a job as stored. */
export type Left<K extends TaskKind = TaskKind> = Extract<AnyLeft, { readonly kind: K }>;

declare module '../../table/keys.ts' {
  interface ItemTypes {
    outbox: Left;
  }
}

/** How long (seconds) a job stays that nobody could do: as long as its message among the dead letters. */
const KEPT = 14 * 86_400;

/** How long (seconds) it must be remembered what was done of a job, so that nothing is done twice: longer than that. */
export const REMEMBERED = 21 * 86_400;

/** The longest (ms) that a reply waits for the queue: the sweep makes up for what it does not hear of. */
const PATIENCE = 1_000;

/** Leaves a part of a job, in the transaction that makes it necessary. `now` is in milliseconds. */
export const doLeave = <K extends TaskKind>(
  { realm, kind, job }: Job<K>,
  part: number,
  task: Tasks[K],
  now: number,
): Write => {
  const place = { realm, kind, job, part };
  const expires = Math.floor(now / 1000) + KEPT;
  return { put: outboxKey(place), item: { ...task, ...place, at: now, expires } };
};

/** Where a part of a job is kept. */
export const outboxKey = ({ realm, kind, job, part }: Job & Pick<Left, 'part'>): Key<'outbox'> =>
  key('outbox', { realm, kind, job, part });

/** All parts of a job; none where it is done. */
export const loadJob = <K extends TaskKind>(table: Table, { realm, kind, job }: Job<K>): Promise<Left<K>[]> =>
  loadParts(table, { realm, kind, job });

/** What is left of one kind in an organization. */
export const loadKind = <K extends TaskKind>(table: Table, realm: string, kind: K): Promise<Left<K>[]> =>
  loadParts(table, { realm, kind });

async function loadParts<K extends TaskKind>(
  table: Table,
  place: { readonly realm: string; readonly kind: K; readonly job?: string },
): Promise<Left<K>[]> {
  const parts = await table.all('outbox', place);
  return parts.filter((part): part is Left<K> => part.kind === place.kind);
}

/** Takes what was done out of the outbox. */
export async function finish(
  { table, uuid }: Pick<Outside, 'table' | 'uuid'>,
  parts: readonly Left[],
): Promise<void> {
  for (let start = 0; start < parts.length; start += MAX_WRITES) {
    const deletes = parts
      .slice(start, start + MAX_WRITES)
      .map((part): Write => ({ delete: outboxKey(part) }));
    const outcome = await table.transact(deletes, uuid());
    if (outcome.state !== 'done') throw new Error(`what was done is still in the outbox: ${outcome.state}`);
  }
}

/** Wakes the worker after the commit. The request has succeeded by then, whatever becomes of this. */
export async function wakeOutbox(
  { report, count, wait }: Pick<Outside, 'report' | 'count' | 'wait'>,
  queues: Queues,
  { realm, kind, job }: Job,
): Promise<void> {
  const sent = queues.send(OUTBOX, { realm, kind, job }).catch((error: Error) => {
    const message = 'outbox worker not woken';
    report({ level: 'WARN', message, worker: OUTBOX, realm, kind, job, error: traceOf(error) });
    count('WorkFailures', OUTBOX, { realm, message });
  });
  await Promise.race([sent, wait(PATIENCE)]);
}
