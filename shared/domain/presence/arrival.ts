import type { Change } from '../../log/commit.ts';
import { settingsOf, type User } from '../../model/user/user.ts';
import type { Table } from '../../table/table.ts';
import { presenceEvent } from './event.ts';
import {
  eventuallyConsistent,
  loadPresence,
  loadPresences,
  type OwnPresence,
  type PingStatus,
  type Presence,
  presenceKey,
  pulseKey,
  slotOf,
  withExpiry,
} from './presence.ts';

/** Seconds without activity after which a user who is active again comes online: at most one event in this time. */
const AWAY_SECONDS = 300;

/**
 * With more people online, nobody's coming is an event: each of them would get each event. As in the reference, whose
 * limit counts everybody who may see the user.
 */
const MAX_ONLINE = 100;

/**
 * Loads what a ping at `now` (seconds) depends on: the user's settings and presence, and the presences that changed after
 * `since`; with `ping_only` those of users who are online. One round trip.
 */
export async function loadPing(
  table: Table,
  realm: string,
  userId: number,
  { since, ping_only: pingOnly }: { readonly since: number | undefined; readonly ping_only?: boolean },
  now: number,
) {
  const [settings, own, others] = await Promise.all([
    table.get('settings', { realm, userId }),
    loadPresence(table, realm, userId, now),
    pingOnly ? loadOnline(table, realm, now) : loadPresences(table, realm, since, now),
  ]);
  return { now, settings: settingsOf(settings), own, others };
}

/** Presences of users who are online, at least one more than may be if there are so many. One round trip. */
async function loadOnline(table: Table, realm: string, now: number): Promise<Presence[]> {
  const slot = slotOf(now);
  const range = { limit: MAX_ONLINE + 1, ...eventuallyConsistent };
  const pages = await Promise.all([
    table.page('pulse', { realm, slot: slot - 1 }, range),
    table.page('pulse', { realm, slot }, range),
  ]);
  return pages.flatMap(({ items }) => items);
}

/**
 * Whether a ping at `now` (seconds) is an event: it shows activity after five minutes without, and not too many others
 * are online.
 */
export const isArrival = (
  { last, active }: OwnPresence,
  status: PingStatus,
  others: readonly Presence[],
  now: number,
): boolean => {
  if (status !== 'active' || last?.hidden || active > now - AWAY_SECONDS) return false;
  const lately = others.filter(({ at }) => at > now - AWAY_SECONDS);
  return new Set(lately.map(({ userId }) => userId)).size <= MAX_ONLINE;
};

/**
 * Records the ping of a user who comes online, with its event. If another of their clients was faster, or they hide their
 * presence meanwhile, the commit meets a conflict.
 */
export function doArrive(realm: string, user: User, now: number): Change<Presence> {
  const { userId } = user;
  const next = { userId, at: now, active: now, idle: now };
  const equals = { hidden: undefined };
  return {
    writes: [
      { put: pulseKey(realm, slotOf(now), userId), item: withExpiry('pulse', next), when: { equals } },
      {
        put: presenceKey(realm, userId),
        item: withExpiry('presence', next),
        when: { equals, below: { active: now - AWAY_SECONDS + 1 } },
      },
    ],
    entries: [presenceEvent(user, next, now)],
    result: withExpiry('pulse', next),
  };
}
