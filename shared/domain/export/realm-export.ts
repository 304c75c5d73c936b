import type { Objects } from '../../kernel/outside.ts';
import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Progress } from './progress.ts';

/** The bucket in which archives are, and the queue of the worker that writes them. */
export const EXPORTS = 'exports';
export const EXPORT_QUEUE = 'export';

export type ExportType = 'public' | 'full_with_consent' | 'full_without_consent';

/** A data export, as stored: what was asked for, what became of it, and how far the worker is with it. */
export interface RealmExport {
  readonly exportId: number;
  /** Unguessable; names its item and its objects, and is known before the number is. */
  readonly token: string;
  readonly type: ExportType;
  readonly actingUserId: number;
  /** When it was asked for, when it succeeded or failed, and when its archive was deleted, ms. */
  readonly requested: number;
  readonly ended?: number;
  readonly deleted?: number;
  readonly state: 'pending' | 'succeeded' | 'failed' | 'deleted';

  /** How often a run has taken it on. Whatever a run writes is held to nobody having taken it on after. */
  readonly claim: number;
  /** Until when (ms) the run that took it on last may be at it. */
  readonly leased: number;
  /** Runs that took it on since it last came further. */
  readonly tries: number;
  /** The number of the next part of the upload. Each claim leaves one out: a run that was cut off may be writing it. */
  readonly part: number;
  /** How far it is; absent before it has begun, and after it is cleared away. */
  readonly progress?: Progress;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    export: RealmExport;
  }
}

export const exportKey = (realm: string, token: string) => key('export', { realm, token });

/** Where the archive is in its bucket. */
export const archiveKey = (realm: string, token: string): string =>
  `${realm}/exports/${token}/archive.tar.gz`;

/** What a message of the queue says: everything else is read from the item. */
export interface ExportJob {
  readonly realm: string;
  readonly token: string;
}

/** All exports of the organization, the oldest first. One round trip. */
export async function loadExports(table: Table, realm: string): Promise<readonly RealmExport[]> {
  const items = await table.all('export', { realm });
  return items.sort((a, b) => a.exportId - b.exportId);
}

/** Days for which an archive is kept after it was finished. Then it is gone, without anybody asking for that. */
export const DAYS_KEPT = 30;

/**
 * The export as it is at a time (ms): one whose archive has been kept for long enough is deleted, whether the bucket has
 * removed the archive by then or not.
 */
export function exportAt(one: RealmExport, now: number): RealmExport {
  const deleted = (one.ended ?? one.requested) + DAYS_KEPT * 86_400_000;
  return one.state === 'succeeded' && deleted <= now ? { ...one, state: 'deleted', deleted } : one;
}

/** Seconds for which the address of an archive is good: it opens the archive to whoever has it. */
const GOOD_FOR = 3_600;

/** The exports as administrators see them now (ms) (wire facts 10), with links that are made for them. */
export const exportObjects = (
  objects: Pick<Objects, 'link'>,
  realm: string,
  exports: readonly RealmExport[],
  now: number,
) =>
  Promise.all(
    exports.map(async (stored) => {
      const one = exportAt(stored, now);
      const { exportId, token, type, actingUserId, requested, state, ended, deleted } = one;
      const link = (): Promise<string> =>
        objects.link(EXPORTS, archiveKey(realm, token), GOOD_FOR, `organization-export-${exportId}.tar.gz`);
      return {
        id: exportId,
        acting_user_id: actingUserId,
        export_time: requested / 1000,
        export_type: type,
        deleted_timestamp: deleted === undefined ? null : deleted / 1000,
        failed_timestamp: state === 'failed' && ended !== undefined ? ended / 1000 : null,
        export_url: state === 'succeeded' ? await link() : null,
        pending: state === 'pending',
        progress: percentOf(one),
      };
    }),
  );

/** About how much of it is done: messages are nearly all of the work, and their numbers tell how many are behind. */
function percentOf({ state, progress }: RealmExport): number {
  if (state === 'succeeded' || state === 'deleted') return 100;
  if (progress === undefined) return 0;
  const { section, from } = progress.place;
  return section === 'messages' ? Math.floor((99 * from.id) / (progress.until + 1)) : 99;
}

/** Tells administrators of a change of any export; all of them are read when it is told (wire facts 10). */
export const exportEvent: EventEntry = {
  kind: 'event',
  hearers: { everyone: 'administrators' },
  payload: { type: 'realm_export' },
  fill: 'exports',
};
