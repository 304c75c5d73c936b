import { traceOf } from '../../kernel/errors.ts';
import { ignoreRefused } from '../../table/outcome.ts';
import { EXPORT_QUEUE, EXPORTS, exportKey, type RealmExport } from './realm-export.ts';
import { endExport, LeaseLost, updateExport } from './state.ts';
import { type ExportTask, keptKeys, uploadOf, writeArchive } from './write.ts';

/** A run starts nothing new when less than this time is left (ms). */
const MARGIN = 60_000;

/** How long (ms) a run may overrun its time before its lease ends. */
const GRACE = 5_000;

/** Most tries without progress before the export fails. */
const MAX_TRIES = 5;

/** Seconds until the next try. Doubles with each try. */
const PAUSE = 30;

/** Longest delay of an SQS message, seconds. */
const MAX_DELAY_SECONDS = 900;

/**
 * Continues an export, for a message of its queue, until it is complete or the time is up. Then another message continues
 * it. Messages may come twice, at the same time or later, and runs may die at any moment. One run at a time has a lease,
 * which ends when the run is certainly over. Its writes fail if it has lost the lease.
 *
 * While an export is pending, there is a message for it: a message is done only when the export has ended, or when
 * another message was sent.
 *
 * Throws if the export has failed, so that its message becomes a dead letter.
 */
export async function runExport(task: ExportTask, deadline: number): Promise<void> {
  const { outside, job } = task;
  const found = await loadExport(task);
  // The message is sent before the commit of the request, which never came.
  if (found === undefined) return;
  if (found.state !== 'pending') return cleanUp(task, found);
  if (found.leased > outside.now()) return waitForLease(task, found);
  let { claim } = found;
  try {
    if (found.tries >= MAX_TRIES) return await giveUp(task, found);
    const lease = { set: { leased: deadline + GRACE }, add: { claim: 1, tries: 1, part: 1 } };
    const mine = await updateExport(outside, job, claim, lease);
    claim = mine.claim;
    await continueExport(task, mine, deadline - MARGIN);
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    const other = await loadExport(task);
    if (other?.state === 'pending') return waitForLease(task, other);
    await removeKept(task, claim);
  }
}

const loadExport = ({ outside, job }: ExportTask): Promise<RealmExport | undefined> =>
  outside.table.get(exportKey(job.realm, job.token));

/** Sends a message that arrives when the lease of another run has ended. */
async function waitForLease({ outside, tools, job }: ExportTask, { leased }: RealmExport): Promise<void> {
  const seconds = Math.ceil((leased - outside.now()) / 1000);
  await tools.queues.send(EXPORT_QUEUE, job, Math.min(Math.max(seconds, 1), MAX_DELAY_SECONDS));
}

async function continueExport(task: ExportTask, mine: RealmExport, ends: number): Promise<void> {
  const { outside, tools, job } = task;
  try {
    const isComplete = await writeArchive(task, mine, ends);
    if (!isComplete) return await tools.queues.send(EXPORT_QUEUE, job);
    await endExport(outside, job, mine.claim, 'succeeded');
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    return retryLater(task, mine, error);
  }
  await cleanUp(task, { ...mine, state: 'succeeded' });
}

/** Logs the error, and tries again after a pause, or gives up. */
async function retryLater(task: ExportTask, mine: RealmExport, error: unknown): Promise<void> {
  const { outside, tools, job } = task;
  const { exportId, claim } = mine;
  outside.report({
    level: 'ERROR',
    message: 'export run failed',
    worker: 'export',
    realm: job.realm,
    exportId,
    error: traceOf(error),
  });
  // Tries since the last progress, which may have been in this run.
  const { tries } = await updateExport(outside, job, claim, { set: { leased: 0 } });
  if (tries >= MAX_TRIES) return giveUp(task, mine);
  await tools.queues.send(EXPORT_QUEUE, job, Math.min(PAUSE * 2 ** tries, MAX_DELAY_SECONDS));
}

async function giveUp(task: ExportTask, one: RealmExport): Promise<void> {
  await endExport(task.outside, task.job, one.claim, 'failed');
  await cleanUp(task, { ...one, state: 'failed' });
}

/** Removes what only an unfinished archive needs, unless that is done. Throws if the export has failed. */
async function cleanUp(task: ExportTask, { exportId, claim, state }: RealmExport): Promise<void> {
  const { outside, tools, job } = task;
  if (claim > 0) {
    const { progress } = (await loadExport(task)) ?? {};
    if (state === 'failed' && progress) await tools.uploads.abort(uploadOf(job, progress));
    await removeKept(task, claim);
    const change = { set: { claim: 0 }, remove: ['progress'] };
    const at = exportKey(job.realm, job.token);
    await outside.table.update(at, change, { equals: { claim } }).catch(ignoreRefused);
  }
  if (state === 'failed') throw new Error(`export ${exportId} of ${job.realm} has failed`);
}

/** Removes the objects that this many runs may have left for the next ones. */
async function removeKept({ tools, job }: ExportTask, claims: number): Promise<void> {
  await Promise.all(keptKeys(job, claims).map((key) => tools.objects.remove(EXPORTS, key)));
}
