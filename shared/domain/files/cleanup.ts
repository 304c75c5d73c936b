import type { Objects, Outside } from '../../kernel/outside.ts';
import { commitTo } from '../../log/checkpoint.ts';
import { ConflictError } from '../../log/commit.ts';
import { runPool } from '../../pool.ts';
import { removeBytes } from './bytes.ts';
import type { StoredFile } from './file.ts';
import { doRemoveFile } from './remove.ts';
import { DAY, type UnusedFile, unusedKey } from './unused.ts';

/** Days for which a file is kept that no message holds (companion facts 1.3). */
const KEPT_DAYS = 35;

/** Entries that are read at once, and looked at at once. */
const PAGE = 100;
const CONCURRENCY = 8;

/** Time (ms) before the end of a run at which it begins nothing more. */
const MARGIN_MS = 10_000;

type Cleaning = Pick<Outside, 'table' | 'uuid' | 'now' | 'wait' | 'report'>;

/**
 * Removes the files that no message has held for five weeks, and bytes that were left behind. It reads the entries of the
 * list that are old enough, and nothing else: without any it costs one read.
 *
 * @param ends when (ms) the run must be over; the next one goes on
 */
export async function removeUnusedFiles(
  outside: Cleaning,
  objects: Pick<Objects, 'remove'>,
  ends: number,
): Promise<void> {
  const last = Math.floor(outside.now() / DAY) - KEPT_DAYS;
  const to = { day: last, realm: '\uffff', token: '' };
  let from = { day: 0, realm: '', token: '' };
  const failures: unknown[] = [];
  while (outside.now() < ends - MARGIN_MS) {
    const { items, more } = await outside.table.page('unusedFile', {}, { from, to, limit: PAGE });
    failures.push(...(await runPool(items, CONCURRENCY, (entry) => cleanUp(outside, objects, entry, last))));
    const end = items.at(-1);
    if (!more || end === undefined) break;
    // What failed stays on the list for the next run.
    from = { day: end.day, realm: end.realm, token: `${end.token}~` };
  }
  if (failures.length > 0) throw new AggregateError(failures, 'some unused files could not be removed');
}

async function cleanUp(
  outside: Cleaning,
  objects: Pick<Objects, 'remove'>,
  entry: UnusedFile,
  last: number,
): Promise<void> {
  const { table, uuid } = outside;
  const { realm, token } = entry;
  const file = await table.get('file', { realm, token });
  // A file that was held since has another entry, if it is not held any more.
  const isUnused = file?.messageIds === undefined && Math.floor((file?.unusedSince ?? 0) / DAY) <= last;
  if (file && isUnused && !(await removeFile(outside, realm, file))) return;
  if (isUnused) await removeBytes(objects, realm, token);
  const { state } = await table.transact([{ delete: unusedKey(entry) }], uuid());
  if (state !== 'done') throw new Error(`an entry of an unused file is still on the list: ${state}`);
}

/** Removes the file; false if a message claimed it meanwhile. */
async function removeFile(outside: Cleaning, realm: string, file: StoredFile): Promise<boolean> {
  const when = { absent: false, equals: { messageIds: undefined, unusedSince: file.unusedSince } };
  try {
    await commitTo(outside, realm)(1, () => doRemoveFile(realm, file.ownerId, file, when));
    return true;
  } catch (error) {
    if (error instanceof ConflictError) return false;
    throw error;
  }
}
