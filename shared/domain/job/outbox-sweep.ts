import type { Outside, Queues } from '../../kernel/outside.ts';
import { runPool } from '../../pool.ts';
import { OUTBOX } from '../outbox/outbox.ts';

/** How old (ms) a job is when the message that tells of it is taken for lost: no request and no usual run lasts so long. */
const LOST = 120_000;

/** A job of this age (ms) has failed so often that its message is among the dead letters, and an operator was told. */
const GIVEN_UP = 24 * 3_600_000;

/** Messages that are sent at once. */
const WIDTH = 16;

/** Wakes the worker for each job of which no message seems to have arrived. */
export async function sweepOutbox(
  { table, now }: Pick<Outside, 'table' | 'now'>,
  queues: Queues,
): Promise<void> {
  const parts = await table.all('outbox', {}, { eventually: true });
  const lost = parts.filter(({ at }) => at < now() - LOST && at > now() - GIVEN_UP);
  const jobs = new Map(lost.map(({ realm, kind, job }) => [job, { realm, kind, job }]));
  const failures = await runPool(jobs.values(), WIDTH, (job) => queues.send(OUTBOX, job));
  if (failures.length > 0) throw new AggregateError(failures, 'some jobs of the outbox could not be told of');
}
