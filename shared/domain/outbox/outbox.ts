/**
 * The outbox: jobs that finish a committed change, because the work takes more round trips than its request has, or
 * grows with the number of users. The transaction of the change stores the job, so one is there if and only if the
 * other is. After the commit the request wakes the worker. If that fails, the sweep does it some minutes later.
 *
 * A message of the queue only says where to look. It may come twice, late or never. Each step of a job is one
 * transaction, conditional on not having been done yet. Finished parts are deleted, so a late message finds nothing.
 */

import type { GroupGraph } from '../../kernel/lookup.ts';
import type { Outside, Queues } from '../../kernel/outside.ts';
import { wakeWorker } from '../../kernel/wake-up.ts';
import { MAX_WRITES } from '../../log/commit.ts';
import { type Log, logOf } from '../../log/log.ts';
import type { Realm } from '../../model/realm/realm.ts';
import { loadGraph } from '../../model/user/caller.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';

/** The queue of the worker, and the name of the worker. */
export const OUTBOX = 'outbox';

/** The queue of the worker that sends mail, and the name of that worker. It does the jobs of kind `mail`. */
export const MAIL_OUT = 'mail-out';

/** The queue of the worker that does jobs of this kind. */
const queueOf = (kind: string): string => (kind === 'mail' ? MAIL_OUT : OUTBOX);

/** Sends the message that wakes the worker of a job. */
export const sendJob = (queues: Queues, { realm, kind, job }: Job): Promise<void> =>
  queues.send(queueOf(kind), { realm, kind, job });

/** The data of a task, by kind. Modules that leave tasks declare their type here, as in `ItemTypes` of the table. */
// biome-ignore lint/suspicious/noEmptyInterface: those who leave tasks fill it
export interface Tasks {}
export type TaskKind = keyof Tasks;

/** A job, and the content of a message of the queue. Several transactions of a request may each add a part to it. */
export interface Job<K extends TaskKind = TaskKind> {
  readonly realm: string;
  readonly kind: K;
  readonly job: string;
}

interface Part<K extends TaskKind> extends Job<K> {
  readonly part: number;
  /** When it was stored, ms. */
  readonly at: number;
  /** When DynamoDB may delete it, seconds. */
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

/** How long (seconds) a failed job is kept: as long as its message in the dead-letter queue. */
const KEPT_SECONDS = 14 * 86_400;

/** How long (seconds) the marks of finished steps are kept, so that none is repeated: longer than the job. */
export const REMEMBERED = 21 * 86_400;

/** Stores a part of a job, in the transaction that makes it necessary. `now` is in milliseconds. */
export const doLeaveJob = <K extends TaskKind>(
  { realm, kind, job }: Job<K>,
  part: number,
  task: Tasks[K],
  now: number,
): Write => {
  const ids = { realm, kind, job, part };
  const expires = Math.floor(now / 1000) + KEPT_SECONDS;
  return { put: outboxKey(ids), item: { ...task, ...ids, at: now, expires } };
};

export const outboxKey = ({ realm, kind, job, part }: Job & Pick<Left, 'part'>): Key<'outbox'> =>
  key('outbox', { realm, kind, job, part });

/** The parts of a job. None if it is done. */
export const loadJob = <K extends TaskKind>(table: Table, { realm, kind, job }: Job<K>): Promise<Left<K>[]> =>
  loadParts(table, { realm, kind, job });

/** All open parts of one kind in an organization. */
export const loadKind = <K extends TaskKind>(table: Table, realm: string, kind: K): Promise<Left<K>[]> =>
  loadParts(table, { realm, kind });

async function loadParts<K extends TaskKind>(
  table: Table,
  ids: { readonly realm: string; readonly kind: K; readonly job?: string },
): Promise<Left<K>[]> {
  const parts = await table.all('outbox', ids);
  return parts.filter((part): part is Left<K> => part.kind === ids.kind);
}

/** Deletes finished parts. */
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

/** Wakes the worker after the commit. Failures are only logged: the request has succeeded. */
export async function wakeOutbox(
  outside: Pick<Outside, 'report' | 'count' | 'wait'>,
  queues: Queues,
  { realm, kind, job }: Job,
): Promise<void> {
  const worker = queueOf(kind);
  const message = 'outbox worker not woken';
  const sending = sendJob(queues, { realm, kind, job }).catch((error: unknown) => {
    outside.count('WorkFailures', worker, { realm, message });
    throw error;
  });
  await wakeWorker(outside, sending, { worker, message, realm, kind, job });
}

/** One run of the outbox worker in one organization. */
export interface OutboxRun {
  readonly outside: Outside;
  readonly log: Log;
  readonly realmId: string;
  readonly realm: Realm;
  readonly graph: GroupGraph;
}

/**
 * Prepares a run. Undefined if the organization does not exist any more. One round trip.
 *
 * A deactivated organization is treated like any other: its changes were committed before and must be complete when it
 * is reactivated.
 */
export async function loadOutboxRun(outside: Outside, realmId: string): Promise<OutboxRun | undefined> {
  const [realm, graph] = await Promise.all([
    outside.table.get('realm', { realm: realmId }),
    loadGraph(outside, realmId),
  ]);
  return realm && { outside, log: logOf(outside, realmId), realmId, realm, graph };
}
