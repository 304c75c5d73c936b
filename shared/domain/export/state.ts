import type { Outside } from '../../kernel/outside.ts';
import { ConflictError, commit } from '../../log/commit.ts';
import { logOf } from '../../log/log.ts';
import type { Changes } from '../../table/write.ts';
import { isRefused } from '../../table/write.ts';
import { type ExportJob, exportEvent, exportKey, type RealmExport } from './realm-export.ts';

/** Another run holds the lease, or the export has ended: this run must stop. */
export class LeaseLost extends Error {
  constructor() {
    super('another run holds the lease of the export');
    this.name = 'LeaseLost';
  }
}

/** The parts of `Outside` that are used here. */
type Around = Pick<Outside, 'table' | 'now' | 'wait'>;

/** The export of a queue message; undefined if its request was never committed. */
export const loadExport = (
  { table }: Around,
  { realm, token }: ExportJob,
): Promise<RealmExport | undefined> => table.get(exportKey(realm, token));

/**
 * Takes the lease of an export until `leased` (ms), when this run is certainly over. `claim` is the fencing token: from now
 * on, writes of earlier runs fail.
 *
 * @throws LeaseLost if another run takes it at the same time
 */
export const takeExportLease = (
  outside: Around,
  { realm, token }: ExportJob,
  { claim }: RealmExport,
  leased: number,
): Promise<RealmExport> => {
  const change = { set: { leased }, add: { claim: 1, tries: 1, part: 1 } };
  return updateLeased(outside, { realm, token }, claim, change);
};

/** Saves fields of an export whose lease this run holds. Throws `LeaseLost`. */
export const saveExport = (
  outside: Around,
  job: ExportJob,
  claim: number,
  kept: Partial<Pick<RealmExport, 'progress' | 'part' | 'tries' | 'leased'>>,
): Promise<RealmExport> => updateLeased(outside, job, claim, { set: kept });

async function updateLeased(
  { table }: Around,
  { realm, token }: ExportJob,
  claim: number,
  change: Changes,
): Promise<RealmExport> {
  try {
    const when = { equals: { claim, state: 'pending' } };
    return await table.update(exportKey(realm, token), change, when);
  } catch (error) {
    throw isRefused(error) ? new LeaseLost() : error;
  }
}

/** Marks the export as succeeded or failed, with an event for administrators. Throws `LeaseLost`. */
export async function endExport(
  around: Around,
  { realm, token }: ExportJob,
  claim: number,
  state: 'succeeded' | 'failed',
): Promise<void> {
  try {
    await commit(logOf(around, realm), 1, () => ({
      writes: [
        {
          update: exportKey(realm, token),
          change: { set: { state, ended: around.now() } },
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

/** Removes the progress of an export that has ended. */
export async function forgetProgress(
  { table }: Around,
  { realm, token }: ExportJob,
  claim: number,
): Promise<void> {
  const change = { set: { claim: 0 }, remove: ['progress'] };
  try {
    await table.update(exportKey(realm, token), change, { equals: { claim } });
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
}
