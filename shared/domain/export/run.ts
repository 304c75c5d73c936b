import { traceOf } from '../../kernel/errors.ts';
import { EXPORT_QUEUE, EXPORTS, type RealmExport } from './realm-export.ts';
import { endExport, forgetProgress, LeaseLost, loadExport, saveExport, takeExportLease } from './state.ts';
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
 * Goes on with an export, for a message of its queue, until it is finished or the time is up; then a next message
 * goes on from there. Messages may come twice, at once or later, and runs may end at any moment: one run at a time has
 * the export, for as long as it can live, and what it writes counts only while it has.
 *
 * As long as an export is pending, some message leads to it: one that is delivered is done with only when the export
 * has ended or when another one was sent.
 *
 * Throws when the export failed for good, so that its message ends among the dead letters.
 */
export async function runExport(task: ExportTask, deadline: number): Promise<void> {
  const { outside, job } = task;
  const found = await loadExport(outside, job);
  // The message goes before the commit of the request, which never came.
  if (found === undefined) return;
  if (found.state !== 'pending') return afterwards(task, found);
  if (found.leased > outside.now()) return comeBack(task, found);
  let { claim } = found;
  try {
    if (found.tries >= MAX_TRIES) return await giveUp(task, found);
    const mine = await takeExportLease(outside, job, found, deadline + GRACE);
    claim = mine.claim;
    await goOn(task, mine, deadline - MARGIN);
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    await leave(task, claim);
  }
}

/** Somebody else has it: has the queue ask again, unless it has ended, when nothing of this run is wanted any more. */
async function leave(task: ExportTask, claim: number): Promise<void> {
  const found = await loadExport(task.outside, task.job);
  if (found?.state === 'pending') return comeBack(task, found);
  await removeKept(task, claim);
}

/** Has the queue ask again when the run that has the export must be over. */
async function comeBack({ outside, tools, job }: ExportTask, { leased }: RealmExport): Promise<void> {
  const seconds = Math.ceil((leased - outside.now()) / 1000);
  await tools.queues.send(EXPORT_QUEUE, job, Math.min(Math.max(seconds, 1), MAX_DELAY_SECONDS));
}

async function goOn(task: ExportTask, mine: RealmExport, ends: number): Promise<void> {
  const { outside, tools, job } = task;
  try {
    const isDone = await writeArchive(task, mine, ends);
    if (!isDone) return await tools.queues.send(EXPORT_QUEUE, job);
    await endExport(outside, job, mine.claim, 'succeeded');
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    return troubled(task, mine, error);
  }
  await clear(task, { ...mine, state: 'succeeded' });
}

/** Tells the operator, and tries again after a while, or gives up. */
async function troubled(task: ExportTask, mine: RealmExport, error: unknown): Promise<void> {
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
  // Tries count from when the export came further last, which may have been in this run.
  const { tries } = await saveExport(outside, job, claim, { leased: 0 });
  if (tries >= MAX_TRIES) return giveUp(task, mine);
  await tools.queues.send(EXPORT_QUEUE, job, Math.min(PAUSE * 2 ** tries, MAX_DELAY_SECONDS));
}

async function giveUp(task: ExportTask, one: RealmExport): Promise<void> {
  await endExport(task.outside, task.job, one.claim, 'failed');
  await afterwards(task, { ...one, state: 'failed' });
}

/** What an export that has ended leaves to do: nothing, if that is done. */
async function afterwards(task: ExportTask, one: RealmExport): Promise<void> {
  await clear(task, one);
  if (one.state === 'failed') throw new Error(`export ${one.exportId} of ${task.job.realm} has failed`);
}

/** Clears away what only the making of the archive needed. */
async function clear(task: ExportTask, { claim, state }: RealmExport): Promise<void> {
  if (claim === 0) return;
  const { outside, tools, job } = task;
  const { progress } = (await loadExport(outside, job)) ?? {};
  if (state === 'failed' && progress) await tools.uploads.abort(uploadOf(job, progress));
  await removeKept(task, claim);
  await forgetProgress(outside, job, claim);
}

/** Removes what so many runs may have kept for the next ones. */
async function removeKept({ tools, job }: ExportTask, claims: number): Promise<void> {
  await Promise.all(keptKeys(job, claims).map((key) => tools.objects.remove(EXPORTS, key)));
}
