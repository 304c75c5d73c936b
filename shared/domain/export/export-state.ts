import type { Outside } from '../../kernel/outside.ts';
import { ConflictError, commit } from '../../log/commit.ts';
import type { Log } from '../../log/log.ts';
import { isRefused } from '../../table/outcome.ts';
import type { Changes } from '../../table/write.ts';
import { type ExportJob, exportEvent, exportKey, type RealmExport } from './realm-export.ts';

/** Another run has taken the export on, or it has ended: this one has nothing more to say. */
export class LeaseLost extends Error {
  constructor() {
    super('another run has taken the export on');
    this.name = 'Overtaken';
  }
}

/** What of the outside is needed here. */
type Around = Pick<Outside, 'table' | 'now' | 'wait'>;

/** The export of a message; undefined where its request was never committed. */
export const loadExport = (
  { table }: Around,
  { realm, token }: ExportJob,
): Promise<RealmExport | undefined> => table.get(exportKey(realm, token));

/**
 * Takes an export on, until a time (ms) at which this run is over for sure. From now on nothing counts that a run
 * writes which took it on before, so that it does no harm if one is still at it.
 *
 * @throws Overtaken where somebody else did in this moment
 */
export const takeExportLease = (
  outside: Around,
  { realm, token }: ExportJob,
  { claim }: RealmExport,
  leased: number,
): Promise<RealmExport> => {
  const change = { set: { leased }, add: { claim: 1, tries: 1, part: 1 } };
  return changeHeld(outside, { realm, token }, claim, change);
};

/** Notes something of an export that this run has: how far it is, or when others may take it on. */
export const keepOfExport = (
  outside: Around,
  job: ExportJob,
  claim: number,
  kept: Partial<Pick<RealmExport, 'progress' | 'part' | 'tries' | 'leased'>>,
): Promise<RealmExport> => changeHeld(outside, job, claim, { set: kept });

async function changeHeld(
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

/** Ends the export one way or the other, and tells administrators. */
export async function endExport(
  { table, now, wait }: Around,
  { realm, token }: ExportJob,
  claim: number,
  state: 'succeeded' | 'failed',
): Promise<void> {
  const log: Log = { table, realm, now, wait };
  try {
    await commit(log, 1, () => ({
      writes: [
        {
          update: exportKey(realm, token),
          change: { set: { state, ended: now() } },
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

/** Forgets how an export that has ended was made. */
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
