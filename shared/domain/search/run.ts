/*
 * The search index of an organization, and how its data goes.
 *
 * - The words of all messages are in segments (`segment.ts`): files of some thousand messages each, in the order of their
 *   ids, in a bucket. A list in the bucket names them, and the one item `searchIndex` names the list and the number of the
 *   log up to which all of them are true (`pointer.ts`).
 * - Sending writes nothing for the index. A message of a queue wakes this worker now and then (`wake-up.ts`), and an
 *   hourly sweep does where that was lost. A run reads the log after the pointer, writes new files for the segments
 *   that change, then a new list, and swaps the pointer last. Replaced files are removed some minutes later.
 * - Without a pointer the same run begins at the start of the log, so the first index and a new one need no other code.
 * - A search asks the segments for candidates, takes all that the log has after the pointer as candidates too, reads
 *   them, and judges their present text and who may see them (`candidates.ts`, `judge.ts`). So an index that is behind
 *   costs work, and never shows or hides anything wrongly.
 * - A run makes a claim, which makes the changes of all earlier runs fail. A run that dies leaves files with names that
 *   the next one knows.
 */

import { traceOf } from '../../kernel/errors.ts';
import type { Objects, Outside, Queues } from '../../kernel/outside.ts';
import { SEARCH_QUEUE, type SearchWakeUp } from '../../kernel/wake-up.ts';
import { stableHead } from '../../log/checkpoint.ts';
import { logOf } from '../../log/log.ts';
import { KEPT } from '../../log/slot.ts';
import { runPool } from '../../pool.ts';
import { key } from '../../table/keys.ts';
import { ignoreRefused, isRefused } from '../../table/outcome.ts';
import { loadBatch } from './batch.ts';
import { isDue } from './due.ts';
import { loadPointer, type SearchPointer } from './pointer.ts';
import { IndexUpdate } from './update.ts';

/** A run starts no other batch when less than this time is left (ms). */
const MARGIN = 60_000;

/** How long (ms) a run may overrun its time before its claim ends. */
const GRACE = 5_000;

/** Organizations that the sweep examines at once. */
const SWEEP_CONCURRENCY = 16;

export interface SearchTools {
  readonly objects: Objects;
  readonly queues: Queues;
}

/** Indexes what the log of an organization has, if it is worth a run. What is not done in time is left to another run. */
export async function indexRealm(
  outside: Outside,
  tools: SearchTools,
  { realm, verify = false }: SearchWakeUp,
  deadline: number,
): Promise<void> {
  const { table } = outside;
  const [pointer, counter] = await Promise.all([loadPointer(table, realm), table.get('counter', { realm })]);
  const now = outside.now();
  // Another run is at it. It goes on to the end of the log.
  if ((pointer?.leased ?? 0) > now || !(verify || isDue(pointer, counter, now))) return;
  const claimed = await claim(outside, realm, pointer, deadline + GRACE);
  if (claimed === undefined) return;
  const update = await IndexUpdate.begin(outside, tools.objects, realm, claimed);
  if (verify) await update.repair();
  const { seq: head } = await stableHead(logOf(outside, realm));
  const read = { at: now, messages: counter?.messages ?? 0 };
  for (;;) {
    const batch = await loadBatch(logOf(outside, realm), update.until, head);
    if (batch.isTorn && update.until > 0 && now - claimed.at >= KEPT) {
      update.reset();
      continue;
    }
    await update.apply(batch);
    const isDone = batch.until >= head;
    const isLast = isDone || !update.hasRoom || outside.now() > deadline - MARGIN;
    // A run that is not done has not read up to this moment, so its count of messages is the one from before.
    const isSaved = await update.save(isDone ? read : { ...read, messages: claimed.messages }, isLast);
    if (!isSaved || isDone) return;
    if (isLast) return tools.queues.send(SEARCH_QUEUE, { realm });
  }
}

/** Makes a claim. Undefined if another run was faster. */
async function claim(
  { table, now }: Outside,
  realm: string,
  pointer: SearchPointer | undefined,
  leased: number,
): Promise<SearchPointer | undefined> {
  const first = { until: 0, at: now(), messages: 0, clean: 0 };
  try {
    return await table.update(
      key('searchIndex', { realm }),
      { add: { claim: 1 }, set: { leased }, setOnce: first },
      { equals: { claim: pointer?.claim } },
    );
  } catch (error) {
    if (isRefused(error)) return undefined;
    throw error;
  }
}

/**
 * Wakes the worker for each organization whose log went on far enough, or was never read. Failures are only reported: the
 * next sweep, or the next search, does it.
 */
export async function sweepSearch(outside: Outside, queues: Queues): Promise<void> {
  const { table, now } = outside;
  const organizations = await table.all('organization', {}, { eventually: true });
  const failures = await runPool(organizations, SWEEP_CONCURRENCY, async ({ realm }) => {
    const [pointer, counter] = await Promise.all([
      loadPointer(table, realm),
      table.get('counter', { realm }),
    ]);
    if (isDue(pointer, counter, now())) await queues.send(SEARCH_QUEUE, { realm });
  });
  const [first] = failures;
  if (first === undefined) return;
  outside.report({
    level: 'WARN',
    message: 'worker not woken for the search index',
    error: traceOf(first),
  });
  outside.count('WorkFailures', SEARCH_QUEUE, { failures: failures.length });
}

/** Makes the next run of the worker rebuild the index. What a run that is at it writes does not count. */
export async function voidIndex({ table }: Pick<Outside, 'table'>, realm: string): Promise<void> {
  const change = { set: { isVoid: true, leased: 0 }, add: { claim: 1 } };
  await table
    .update(key('searchIndex', { realm }), change, { absent: false })
    // There is none yet.
    .catch(ignoreRefused);
}
