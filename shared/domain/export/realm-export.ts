import type { Objects, UploadedPart } from '../../kernel/outside.ts';
import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';

/** The bucket of the archives, and the queue of the worker that writes them. */
export const EXPORTS = 'exports';
export const EXPORT_QUEUE = 'export';

export type ExportType = 'public' | 'full_with_consent' | 'full_without_consent';

/** A data export, as stored: the request, its outcome and its progress. */
export interface RealmExport {
  readonly exportId: number;
  /** Unguessable; part of the keys of its item and its objects, and known before its id. */
  readonly token: string;
  readonly type: ExportType;
  readonly actingUserId: number;
  /** When it was requested, when it succeeded or failed, and when its archive was deleted, ms. */
  readonly requested: number;
  readonly ended?: number;
  readonly deleted?: number;
  readonly state: 'pending' | 'succeeded' | 'failed' | 'deleted';

  /** How often a run has taken the lease. The writes of a run fail if a later run has taken it. */
  readonly claim: number;
  /** Until when (ms) the last run has the lease. */
  readonly leased: number;
  /** Runs since the last progress. */
  readonly tries: number;
  /** The number of the next part of the upload. Each claim skips one, which a dying run may still be writing. */
  readonly part: number;
  /** Absent before the start and after the end. */
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

/** A message of the queue. Everything else is read from the item. */
export interface ExportJob {
  readonly realm: string;
  readonly token: string;
}

/** All exports of the organization, the oldest first. One round trip. */
export async function loadExports(table: Table, realm: string): Promise<readonly RealmExport[]> {
  const items = await table.all('export', { realm });
  return items.sort((a, b) => a.exportId - b.exportId);
}

/** Days for which a finished archive is kept. After that it is deleted automatically. */
export const DAYS_KEPT = 30;

/**
 * The export at a time (ms). After `DAYS_KEPT` it counts as deleted, whether or not the bucket has removed the archive.
 */
export function exportAt(one: RealmExport, now: number): RealmExport {
  const deleted = (one.ended ?? one.requested) + DAYS_KEPT * 86_400_000;
  return one.state === 'succeeded' && deleted <= now ? { ...one, state: 'deleted', deleted } : one;
}

/** Lifetime of a download link, seconds. Anyone who has the link can download the archive. */
const LINK_SECONDS = 3_600;

/** The exports as administrators see them, with fresh download links (wire facts 10). `now` is in milliseconds. */
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
        objects.link(
          EXPORTS,
          archiveKey(realm, token),
          LINK_SECONDS,
          `organization-export-${exportId}.tar.gz`,
        );
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

/** The estimated progress. Messages are nearly all of the work, and their ids show how far the export is. */
function percentOf({ state, progress }: RealmExport): number {
  if (state === 'succeeded' || state === 'deleted') return 100;
  if (progress === undefined) return 0;
  const { section, from } = progress.place;
  return section === 'messages' ? Math.floor((99 * from.id) / (progress.until + 1)) : 99;
}

/** The event for administrators when any export changes. The list is read at delivery (wire facts 10). */
export const exportEvent: EventEntry = {
  kind: 'event',
  hearers: { everyone: 'administrators' },
  payload: { type: 'realm_export' },
  fill: 'exports',
};

/**
 * The sections of an archive, in order. What messages refer to comes after the messages: users, channels, groups and emoji
 * are never deleted, so they still exist when their section is written.
 */
export const sectionNames = [
  'messages',
  'emoji',
  'attachments',
  'channels',
  'subscriptions',
  'channel_folders',
  'user_groups',
  'custom_profile_fields',
  'users',
  'organization',
] as const;

export type SectionName = (typeof sectionNames)[number];

/** Sections made of records. The others are single files. */
export const recordSections = sectionNames.filter((name) => name !== 'organization');

/** Where a section continues: the id of the item, and the id within it. */
export interface From {
  readonly id: number;
  readonly sub: number;
}

export const START: From = { id: 0, sub: 0 };

/** Where the archive continues. At `end` only the manifest is missing; `done` is complete. */
export interface Place {
  readonly section: SectionName | 'end' | 'done';
  readonly from: From;
  /** The number of the last file of the section. */
  readonly file: number;
}

/** The progress of an archive: everything that the next run needs to continue. */
export interface Progress {
  readonly place: Place;
  /** The last number of the log that is exported. */
  readonly until: number;
  /** The S3 object with the plan. */
  readonly plan: string;
  /** The id of the upload. */
  readonly upload: string;
  readonly parts: readonly UploadedPart[];
  /** The S3 object with the bytes after these parts, if they were too few for a part. */
  readonly tail?: string;
  /** Bytes of the archive so far. */
  readonly bytes: number;
  /** Records so far, by section. */
  readonly counts: Readonly<Partial<Record<SectionName, number>>>;
}

/** The start of the next section. */
export function after(section: SectionName): Place {
  const following = sectionNames[sectionNames.indexOf(section) + 1];
  return { section: following ?? 'end', from: START, file: 0 };
}
