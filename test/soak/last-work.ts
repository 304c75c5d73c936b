import { runJob } from '../../shared/domain/job/run.ts';
import type { Audited } from '../support/audit/audit.ts';
import { leftIn, messagesOf } from '../support/outbox.ts';

/** How often to look for jobs: one may leave others. */
const LOOKS = 10;

/** How long (ms) one job may take. */
const LONGEST = 120_000;

/**
 * Does what is left in the outbox, as the sweep would within some minutes: what it tells has to come before the end of
 * the soak, at which readers stop. A worker that is at it at the same moment does no harm.
 */
export async function doLastWork({ outside, realm }: Pick<Audited, 'outside' | 'realm'>): Promise<void> {
  for (let look = 1; look <= LOOKS; look++) {
    const jobs = messagesOf(await leftIn({ outside, realm }));
    if (jobs.length === 0) return;
    for (const job of jobs) await runJob(outside, JSON.parse(job), outside.now() + LONGEST);
  }
  throw new Error('the outbox is never empty');
}
