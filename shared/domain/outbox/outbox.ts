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
import { MOST_WRITES } from '../../log/commit.ts';
import { type Key, key, partition, sortPrefix } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';

/** The queue that wakes the worker, and the worker's own name. */
export const OUTBOX = 'outbox';

/**
 * What is left: to tell people of their subscriptions, or a topic where its messages went; messages, policies and
 * people that follow; members of a large group; reactions to deleted messages.
 */
export type TaskKind = 'subscribed' | 'moved' | 'move' | 'policies' | 'people' | 'arrivals' | 'reactions';

/** A job, which may be left in parts by several transactions of one request: what a message of the queue says. */
export interface Job {
  readonly realm: string;
  readonly kind: TaskKind;
  readonly job: string;
}

/** A part of a job as stored. */
export interface Left extends Job {
  readonly part: number;
  /** When it was left, ms. */
  readonly at: number;
  /** Seconds: DynamoDB removes what nobody could do. */
  readonly expires: number;
}

/** How long (seconds) a job stays that nobody could do: as long as its message among the dead letters. */
const KEPT = 14 * 86_400;

/** How long (seconds) it must be remembered what was done of a job, so that nothing is done twice: longer than that. */
export const REMEMBERED = 21 * 86_400;

/** The longest (ms) that a reply waits for the queue: the sweep makes up for what it does not hear of. */
const PATIENCE = 1_000;

/** Leaves a part of a job, in the transaction that makes it necessary. `now` is in milliseconds. */
export const doLeave = ({ realm, kind, job }: Job, part: number, task: object, now: number): Write => {
  const left: Left = { realm, kind, job, part, at: now, expires: Math.floor(now / 1000) + KEPT };
  return { put: outboxKey(left), item: { ...task, ...left } };
};

/** Where a part of a job is kept. */
export const outboxKey = ({ realm, kind, job, part }: Left): Key => key('outbox', { realm, kind, job, part });

/** All parts of a job; none where it is done. */
export const loadJob = <T = unknown>(table: Table, { realm, kind, job }: Job): Promise<(T & Left)[]> =>
  table.all<T & Left>({ pk: partition('outbox', {}), prefix: sortPrefix('outbox', { realm, kind, job }) });

/** What is left of one kind in an organization. */
export const loadKind = <T>(table: Table, realm: string, kind: TaskKind): Promise<(T & Left)[]> =>
  table.all<T & Left>({
    pk: partition('outbox', {}),
    prefix: sortPrefix('outbox', { realm, kind }),
  });

/** Takes what was done out of the outbox. */
export async function finish(
  { table, uuid }: Pick<Outside, 'table' | 'uuid'>,
  parts: readonly Left[],
): Promise<void> {
  for (let start = 0; start < parts.length; start += MOST_WRITES) {
    const deletes = parts
      .slice(start, start + MOST_WRITES)
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
    report({ level: 'WARN', worker: OUTBOX, realm, kind, job, unheard: error.message });
    count('WorkFailures', OUTBOX, { realm, unheard: true });
  });
  await Promise.race([sent, wait(PATIENCE)]);
}
