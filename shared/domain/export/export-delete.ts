import { badRequest } from '../../kernel/errors.ts';
import type { Change } from '../../log/commit.ts';
import { exportAt, exportEvent, exportKey, type RealmExport } from './realm-export.ts';

/** Why the archive of an export cannot be deleted (wire facts 10). */
const refusals = {
  pending: 'The export is still in progress.',
  failed: 'The export failed, so there is nothing to delete.',
  deleted: 'The export is deleted already.',
} as const;

/** The export with this id that has an archive now (ms). */
export function accessFinished(exports: readonly RealmExport[], exportId: number, now: number): RealmExport {
  const stored = exports.find((each) => each.exportId === exportId);
  if (stored === undefined) throw badRequest('There is no export with this ID.');
  const one = exportAt(stored, now);
  if (one.state !== 'succeeded') throw badRequest(refusals[one.state]);
  return one;
}

/** Notes that the archive is gone. `now` is in milliseconds. */
export const doDeleteExport = (realm: string, { token }: RealmExport, now: number): Change<object> => ({
  writes: [
    {
      update: exportKey(realm, token),
      change: { set: { state: 'deleted', deleted: now } },
      when: { equals: { state: 'succeeded' } },
    },
  ],
  entries: [exportEvent],
  result: {},
});
