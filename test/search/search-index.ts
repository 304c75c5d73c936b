import { handler } from '../../functions/workers/export.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { SegmentCache, segmentIndex } from '../../shared/domain/search/candidates.ts';
import {
  loadList,
  loadPointer,
  NO_SEGMENTS,
  SEARCH,
  type SegmentList,
} from '../../shared/domain/search/pointer.ts';
import { askedWords, parseQuery } from '../../shared/domain/search/query.ts';
import type { Objects } from '../../shared/kernel/outside.ts';
import { SEARCH_QUEUE } from '../../shared/kernel/wake-up.ts';
import type { TestRealm } from '../support/realm.ts';
import { workOf } from '../support/work-queue.ts';
import { queued, runQueue } from '../support/worker-run.ts';

/** The buckets, as a function that may do everything with them sees them. */
export const objectsOf = ({ outside }: TestRealm): Objects => s3Objects(outside.environment);

/** Runs the worker for one message of its queue, and tells whether it did it. */
export async function indexed(
  realm: TestRealm,
  { verify = true, seconds }: { readonly verify?: boolean; readonly seconds?: number } = {},
): Promise<boolean> {
  await workOf(realm, SEARCH_QUEUE);
  const message = queued(JSON.stringify({ realm: realm.realm, verify }));
  const { batchItemFailures } = await runQueue(realm, handler, [message], seconds);
  return batchItemFailures.length === 0;
}

/** The list of segments as it is. */
export async function segmentsOf(realm: TestRealm): Promise<SegmentList> {
  const pointer = await loadPointer(realm.outside.table, realm.realm);
  if (pointer === undefined) return NO_SEGMENTS;
  const list = await loadList(objectsOf(realm), pointer);
  if (list === undefined) throw new Error('the list is damaged');
  return list;
}

/** The ids that the segments alone find for a search, in rising order. */
export async function foundInSegments(realm: TestRealm, search: string): Promise<readonly number[]> {
  const pointer = await loadPointer(realm.outside.table, realm.realm);
  const state = { pointer: pointer ?? {}, sent: [], changed: [] };
  const index = segmentIndex(objectsOf(realm), new SegmentCache(), state);
  const wish = { words: askedWords(parseQuery(search)), place: () => true, hit: () => true };
  const { found } = await index.candidates(wish, {
    from: 1,
    to: Number.MAX_SAFE_INTEGER,
    side: 'newer',
    limit: 100_000,
  });
  return found.map(({ id }) => id);
}

/** Overwrites an object of the index, or removes it. */
export async function damage(realm: TestRealm, name: string, bytes?: Uint8Array): Promise<void> {
  if (bytes) await objectsOf(realm).put(SEARCH, name, bytes, 'application/octet-stream');
  else await objectsOf(realm).remove(SEARCH, name);
}
