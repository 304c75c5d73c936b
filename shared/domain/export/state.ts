import type { Outside } from '../../kernel/outside.ts';
import { ConflictError, commit } from '../../log/commit.ts';
import { logOf } from '../../log/log.ts';
import { isRefused } from '../../table/outcome.ts';
import type { Changes } from '../../table/write.ts';
import { type ExportJob, exportEvent, exportKey, type RealmExport } from './realm-export.ts';

/** Another run holds the lease, or the export has ended: this run must stop. */
export class LeaseLost extends Error {
  constructor() {
    super('another run holds the lease of the export');
    this.name = 'LeaseLost';
  }
}

/**
 * Changes a pending export whose last claim is `claim`. The claim is the fencing token: once a run has added one to it,
 * writes of earlier runs fail.
 *
 * @throws LeaseLost if another run has claimed the export, or if it has ended
 */
export async function updateExport(
  { table }: Pick<Outside, 'table'>,
  { realm, token }: ExportJob,
  claim: number,
  change: Changes,
): Promise<RealmExport> {
  try {
    return await table.update(exportKey(realm, token), change, { equals: { claim, state: 'pending' } });
  } catch (error) {
    throw isRefused(error) ? new LeaseLost() : error;
  }
}

/** Marks the export as succeeded or failed, with an event for administrators. Throws `LeaseLost`. */
export async function endExport(
  outside: Pick<Outside, 'table' | 'now' | 'wait'>,
  { realm, token }: ExportJob,
  claim: number,
  state: 'succeeded' | 'failed',
): Promise<void> {
  try {
    await commit(logOf(outside, realm), 1, () => ({
      writes: [
        {
          update: exportKey(realm, token),
          change: { set: { state, ended: outside.now() } },
          when: { equals: { claim, state: 'pending' } },
        },
      ],
      entries: [exportEvent],
      result: undefined,
    }));
  } catch (error) {
    throw error instanceof ConflictError ? new LeaseLost() : error;
  }
}
