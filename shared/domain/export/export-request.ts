import { badRequest } from '../../kernel/errors.ts';
import type { Change } from '../../log/commit.ts';
import type { Counter } from '../../log/log.ts';
import { roles } from '../../model/permission/permission.ts';
import type { OwnerCount } from '../../model/user/activation.ts';
import type { Caller } from '../../model/user/caller.ts';
import { settingsOf } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { type ExportType, exportEvent, exportKey, type RealmExport } from './realm-export.ts';

/** Most exports that can be asked for in so many days, whatever becomes of them (wire facts 2). */
const MOST = 5;
const DAYS = 7;

/**
 * Most messages of an organization that is exported at a request, by an estimate (wire facts 2). Uploaded files, of
 * which the reference takes 20 GiB, there are none here but emoji.
 */
export const MAX_MESSAGES = 250_000;

/** The times (ms) of the last exports that were asked for, oldest first. */
interface Quota {
  readonly requested: readonly number[];
  readonly version: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    exportQuota: Quota;
  }
}

/** What a request for an export rests on besides its caller. */
export interface ExportSnapshot {
  readonly quota: Quota | undefined;
  readonly counter: Counter | undefined;
  /** An owner who consents to the export of their private data; looked for only where one is needed. */
  readonly consenter: number | undefined;
}

/** Reads the snapshot of a request. One round trip. `owners` are given where one of them must consent. */
export async function loadExportSnapshot(
  table: Table,
  realm: string,
  owners: OwnerCount | undefined,
): Promise<ExportSnapshot> {
  const [quota, counter, consents] = await Promise.all([
    table.get('exportQuota', { realm }),
    table.get('counter', { realm }),
    Promise.all([...(owners?.ids ?? [])].map((userId) => consentOf(table, realm, userId))),
  ]);
  return { quota, counter, consenter: consents.find(({ consented }) => consented)?.user_id };
}

/** Whether a person consents to the export of their private data. One round trip with others. */
export const consentOf = async (table: Table, realm: string, userId: number) => ({
  user_id: userId,
  consented: settingsOf(await table.get('settings', { realm, userId })).allow_private_data_export,
});

/** Decides whether an administrator may have an export of this type now; the order is that of wire facts 10. */
export function checkExport(
  { realm }: Pick<Caller, 'realm'>,
  type: ExportType,
  { quota, counter, consenter }: ExportSnapshot,
  now: number,
): void {
  if (recentOf(quota, now).length >= MOST) {
    throw badRequest(`At most ${MOST} exports can be asked for in ${DAYS} days.`);
  }
  if ((counter?.messages ?? 0) > MAX_MESSAGES) {
    throw badRequest(
      'This organization is too large to be exported at a request; ask the operator of the service for a manual export.',
    );
  }
  if (type === 'full_with_consent' && consenter === undefined) {
    throw badRequest('An export of private data needs the consent of at least one owner.');
  }
  if (type === 'full_without_consent' && !realm.settings.owner_full_content_access) {
    throw badRequest('This organization does not give its owners full access to private data.');
  }
}

/** The times of the requests that count still. `now` is in milliseconds. */
const recentOf = (quota: Quota | undefined, now: number): number[] =>
  (quota?.requested ?? []).filter((time) => time > now - DAYS * 86_400_000);

/**
 * Notes that an export is wanted, held to what was decided on: so many were asked for, and the organization, or one
 * of its owners, still allows it.
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
        when: quota ? { equals: { version: quota.version } } : { absent: true },
      },
      ...leave(realmId, realm.version, wanted.type, consenter),
    ],
    entries: [exportEvent],
    result: { id: wanted.exportId },
  };
}

/** Checks that whoever opens private data to the export still does. */
function leave(realm: string, version: number, type: ExportType, consenter: number | undefined): Write[] {
  if (type === 'full_without_consent')
    return [{ check: key('realm', { realm }), when: { equals: { version } } }];
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
