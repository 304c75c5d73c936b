import { badRequest } from '../../kernel/errors.ts';
import type { Change } from '../../log/commit.ts';
import type { Counter } from '../../log/log.ts';
import { roles } from '../../model/permission/permission.ts';
import type { OwnerCount } from '../../model/user/activation.ts';
import type { Caller } from '../../model/user/caller.ts';
import { settingsOf } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersion, type Write } from '../../table/write.ts';
import { loadUploadSpace } from '../files/file.ts';
import { type ExportType, exportAt, exportEvent, exportKey, type RealmExport } from './realm-export.ts';

/** Most export requests in `QUOTA_DAYS` days, whatever their outcome (wire facts 2). */
const MAX_EXPORTS = 5;
const QUOTA_DAYS = 7;

/** Most messages (estimated), and bytes of uploaded files, of an organization that can request an export (wire facts 2). */
export const MAX_MESSAGES = 250_000;
export const MAX_UPLOADS = 20 * 1024 ** 3;

/** The times (ms) of recent export requests, oldest first. */
interface Quota {
  readonly requested: readonly number[];
  readonly version: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    exportQuota: Quota;
  }
}

/** The snapshot for an export request. */
export interface ExportSnapshot {
  readonly quota: Quota | undefined;
  readonly counter: Counter | undefined;
  /** Bytes of uploaded files. */
  readonly uploads: number;
  /** An owner who consents to the export of private data. Only loaded if one is needed. */
  readonly consenter: number | undefined;
}

/** Reads the snapshot in one round trip. Pass `owners` if one of them must consent. */
export async function loadExportSnapshot(
  table: Table,
  realm: string,
  owners: OwnerCount | undefined,
): Promise<ExportSnapshot> {
  const [quota, counter, uploads, consents] = await Promise.all([
    table.get('exportQuota', { realm }),
    table.get('counter', { realm }),
    loadUploadSpace(table, realm),
    Promise.all([...(owners?.ids ?? [])].map((userId) => consentOf(table, realm, userId))),
  ]);
  return { quota, counter, uploads, consenter: consents.find(({ consented }) => consented)?.user_id };
}

/** Whether a user consents to the export of their private data. */
const consentOf = async (table: Table, realm: string, userId: number) => ({
  user_id: userId,
  consented: settingsOf(await table.get('settings', { realm, userId })).allow_private_data_export,
});

/** Decides whether an administrator may request an export of this type now, in the order of wire facts 10. */
export function checkExport(
  { realm }: Pick<Caller, 'realm'>,
  type: ExportType,
  { quota, counter, uploads, consenter }: ExportSnapshot,
  now: number,
): void {
  if (recentOf(quota, now).length >= MAX_EXPORTS) {
    throw badRequest(`You can request at most ${MAX_EXPORTS} exports in ${QUOTA_DAYS} days.`);
  }
  if ((counter?.messages ?? 0) > MAX_MESSAGES || uploads > MAX_UPLOADS) {
    throw badRequest(
      'This organization is too large for an automatic export. Ask the operator of the service for a manual export.',
    );
  }
  if (type === 'full_with_consent' && consenter === undefined) {
    throw badRequest('An export of private data needs the consent of at least one owner.');
  }
  if (type === 'full_without_consent' && !realm.settings.owner_full_content_access) {
    throw badRequest('This organization does not give its owners full access to private data.');
  }
}

/** The requests that still count towards the quota. `now` is in milliseconds. */
const recentOf = (quota: Quota | undefined, now: number): number[] =>
  (quota?.requested ?? []).filter((time) => time > now - QUOTA_DAYS * 86_400_000);

/**
 * Stores the export request. The transaction fails if the quota, the permission of the organization or the consent of the
 * owner has changed since the snapshot.
 */
export function doRequestExport(
  { realmId, realm, user }: Pick<Caller, 'realmId' | 'realm' | 'user'>,
  wanted: Pick<RealmExport, 'exportId' | 'token' | 'type'>,
  { quota, consenter }: ExportSnapshot,
  now: number,
): Change<{ readonly id: number }> {
  const one: RealmExport = {
    ...wanted,
    actingUserId: user.userId,
    requested: now,
    state: 'pending',
    claim: 0,
    leased: 0,
    tries: 0,
    part: 1,
  };
  const after: Quota = { requested: [...recentOf(quota, now), now], version: (quota?.version ?? 0) + 1 };
  return {
    writes: [
      { put: exportKey(realmId, wanted.token), item: { ...one }, when: { absent: true } },
      {
        put: key('exportQuota', { realm: realmId }),
        item: { ...after },
        when: hasVersion(quota?.version),
      },
      ...doRequireConsent(realmId, realm.version, wanted.type, consenter),
    ],
    entries: [exportEvent],
    result: { id: wanted.exportId },
  };
}

/** Conditions that the permission or the consent still holds. */
function doRequireConsent(
  realm: string,
  version: number,
  type: ExportType,
  consenter: number | undefined,
): Write[] {
  if (type === 'full_without_consent') return [{ check: key('realm', { realm }), when: hasVersion(version) }];
  if (type === 'public' || consenter === undefined) return [];
  return [
    {
      check: key('settings', { realm, userId: consenter }),
      when: { equals: { allow_private_data_export: true } },
    },
    {
      check: key('user', { realm, userId: consenter }),
      when: { equals: { isActive: true, role: roles.owner } },
    },
  ];
}

/** The consents of active people to the export of their private data (wire facts 10). Two round trips. */
export async function loadConsents(table: Table, realm: string) {
  const people = (await table.all('user', { realm })).filter(({ isActive, isBot }) => isActive && !isBot);
  return Promise.all(people.map(({ userId }) => consentOf(table, realm, userId)));
}

/** Why the archive of an export cannot be deleted (wire facts 10). */
const refusals = {
  pending: 'The export is still in progress.',
  failed: 'The export failed, so there is nothing to delete.',
  deleted: 'The export has already been deleted.',
} as const;

/** The finished export with this id, or a refusal. `now` is in milliseconds. */
export function accessFinished(exports: readonly RealmExport[], exportId: number, now: number): RealmExport {
  const stored = exports.find((each) => each.exportId === exportId);
  if (stored === undefined) throw badRequest('There is no export with this ID.');
  const one = exportAt(stored, now);
  if (one.state !== 'succeeded') throw badRequest(refusals[one.state]);
  return one;
}

/** Marks the export as deleted. `now` is in milliseconds. */
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
