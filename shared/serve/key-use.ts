import type { Outside } from '../kernel/outside.ts';
import type { ApiKey } from '../model/user/api-key.ts';
import { key } from '../table/keys.ts';
import { isPassing, isRefused } from '../table/write.ts';

const DAY_SECONDS = 86_400;

/** Days for which it is known when a key was last used. */
const KEPT_DAYS = 400;

/**
 * Notes the day on which a key is used, so that its owner sees which devices are still in use. One write unit, in
 * parallel with the reads of the request, at most once a day for each key and container, and none on the day on which the
 * key was made. The partition is that of the request counters, which every function may write.
 */
export async function noteKeyUse(
  { table, cache, now }: Outside,
  realm: string,
  userId: number,
  { id: keyId, created }: ApiKey,
): Promise<void> {
  const day = Math.floor(now() / 1_000 / DAY_SECONDS);
  if (created !== undefined && day <= Math.floor(created / DAY_SECONDS)) return;
  const at = key('keyUse', { realm, userId, keyId });
  if (cache.usedOn(at) === day) return;
  try {
    const expires = (day + KEPT_DAYS) * DAY_SECONDS;
    await table.update(at, { set: { keyId, day, expires } }, { below: { day } });
  } catch (error) {
    // Another container noted it first, or the store is busy: then a later request notes it.
    if (isRefused(error) || isPassing(error)) return;
    throw error;
  }
  cache.noteUse(at, day);
}
