import { key } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Write } from '../table/write.ts';
import { badRequest } from './errors.ts';

/**
 * How many bytes of each kind an organization may hold (docs/LIMITS.md). `POST /register` returns all of it to every user,
 * so without a limit one member could make that reply too large for all others. Texts count as JSON in UTF-8. With every
 * quota used up, the compressed reply still fits into what Lambda returns; channels take twice their quota there, once as
 * `streams` and once as subscriptions.
 */
export const quotas = {
  channels: { bytes: 700_000, holds: 'channels and channel folders' },
  groups: { bytes: 500_000, holds: 'user groups' },
  emoji: { bytes: 400_000, holds: 'custom emoji' },
  profiles: { bytes: 800_000, holds: 'profiles' },
} as const;

export type QuotaKind = keyof typeof quotas;

/** What anything costs in addition to its texts: its ID, its dates and its switches. */
const BASE_BYTES = 100;

/** What one more member costs a group: the ID in the list of its members. */
export const MEMBER_BYTES = 4;

/** The bytes that something with these texts takes of its quota. */
export const bytesOf = (...texts: readonly unknown[]): number =>
  BASE_BYTES + Buffer.byteLength(JSON.stringify(texts));

/** Reads how many bytes of a quota are in use. One round trip. */
export const loadQuotaUse = async (table: Table, realm: string, kind: QuotaKind): Promise<number> =>
  (await table.get('quota', { realm, kind }))?.used ?? 0;

/**
 * Decides whether the organization has room for so many bytes more; fewer are always allowed. `used` is what
 * `loadQuotaUse` read. Throws `BAD_REQUEST`.
 */
export function checkQuota(kind: QuotaKind, used: number, more: number): void {
  const { bytes, holds } = quotas[kind];
  if (more > 0 && used + more > bytes) {
    throw badRequest(`The ${holds} of this organization take up all the space that there is for them.`);
  }
}

/**
 * Counts so many bytes more, or fewer, in the transaction that stores them. The condition refuses what the quota has no
 * room for any more, so that two requests at once cannot both take the last of it.
 */
export const doUseQuota = (realm: string, kind: QuotaKind, more: number): Write[] =>
  more === 0
    ? []
    : [
        {
          update: key('quota', { realm, kind }),
          change: { add: { used: more } },
          ...(more > 0 && { when: { below: { used: quotas[kind].bytes - more + 1 } } }),
        },
      ];
