import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { commitTo } from '../../log/checkpoint.ts';
import { type Change, retryOnConflict } from '../../log/commit.ts';
import type { Realm } from '../../model/realm/realm.ts';
import { everyCredentialChanged } from '../../model/user/caller.ts';
import { doSet } from './edit.ts';

/**
 * Checks a request to deactivate the organization (companion facts 4.8). Nothing is ever deleted by itself here, so a number
 * of days until then is refused.
 */
export function checkDeletionDelay(days: number | null | undefined): void {
  if (typeof days === 'number') {
    throw badRequest("Organizations are not deleted here: leave 'deletion_delay_days' out, or send null.");
  }
}

/**
 * Takes an organization out of service, or puts it back; on condition that it is unchanged. Nothing else changes: while it
 * is out of service every caller is refused, and its accounts, keys, queues and invitations are there when it comes back.
 */
export const doSetInService = (
  realm: string,
  before: Realm,
  isInService: boolean,
): Change<Record<string, never>> => ({
  writes: [doSet(realm, before, { deactivated: !isInService })],
  entries: [everyCredentialChanged()],
  result: {},
});

/** The same for the operator. Returns whether it was otherwise before. Throws `BAD_REQUEST` if there is no organization. */
export async function setInService(outside: Outside, realm: string, isInService: boolean): Promise<boolean> {
  return retryOnConflict(outside, async () => {
    const before = await outside.table.get('realm', { realm });
    if (before === undefined) throw badRequest('This organization no longer exists.');
    if (before.deactivated === !isInService) return false;
    await commitTo(outside, realm)(1, () => doSetInService(realm, before, isInService));
    return true;
  });
}
