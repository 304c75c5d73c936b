import type { Outside, Queues } from '../../kernel/outside.ts';
import { carryOut } from '../../log/carry-out.ts';
import { isAnythingAfter } from '../../log/run.ts';
import { runPool } from '../../pool.ts';
import { type ItemOf, key } from '../../table/keys.ts';
import { loadFollower } from './follower.ts';
import { sendNudge } from './nudge.ts';
import { loadJobs } from './push-job.ts';

/** Organizations that are looked at at once. */
const WIDTH = 16;

/**
 * Wakes the worker where something is left to do: a job, or something behind the follower's cursor. Where there is
 * neither job nor follower any more, the organization is taken off the list.
 */
export async function sweepPush(outside: Outside, queues: Queues): Promise<void> {
  const listed = await outside.table.all('pushRealm', {}, { eventually: true });
  const failures = await runPool(listed, WIDTH, (each) => look(outside, queues, each));
  if (failures.length > 0) throw new AggregateError(failures, 'some organizations could not be swept');
}

async function look(
  outside: Outside,
  queues: Queues,
  { realm, version }: ItemOf<'pushRealm'>,
): Promise<void> {
  const { table, now, wait } = outside;
  const [follower, jobs] = await Promise.all([loadFollower(table, realm), loadJobs(table, realm, 1)]);
  if (follower === undefined && jobs.length === 0) {
    await carryOut(outside, [{ delete: key('pushRealm', { realm }), when: { equals: { version } } }]);
    return;
  }
  const log = { table, realm, now, wait };
  const isBehind = follower !== undefined && (await isAnythingAfter(log, follower.cursor));
  if (isBehind || jobs.length > 0) await sendNudge(queues, { realm });
}
