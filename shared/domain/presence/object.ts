import type { User } from '../../model/user/user.ts';
import { OFFLINE_SECONDS, type Presence, seconds } from './presence.ts';

/** Seconds after the last activity until older clients see a user as idle. */
const IDLE_SECONDS = 120;

/** Default for the days of history in a reply. */
const HISTORY_DAYS = 14;

const DAY = 86_400;

/** A presence with both of its times. */
export interface FullPresence extends Presence {
  readonly active: number;
}

/** Fills in the time of joining for a user who was never active. */
export const withActiveTime = (
  presence: Presence,
  { dateJoined }: Pick<User, 'dateJoined'>,
): FullPresence => ({
  ...presence,
  active: presence.active ?? seconds(Date.parse(dateJoined)),
});

type Times = Pick<FullPresence, 'active' | 'idle'>;

/** A presence in the modern format. */
export const presenceObject = ({ active, idle }: Times) => ({
  active_timestamp: active,
  idle_timestamp: idle,
});

/** Status and time in the legacy format. */
function statusOf({ active, idle }: Times, now: number) {
  return now - active <= IDLE_SECONDS
    ? { status: 'active', timestamp: active }
    : { status: 'idle', timestamp: idle };
}

/** The clients of a presence in the legacy format: one that stands for all. */
export const legacyClients = (times: Times, now: number) => ({
  website: { client: 'website', ...statusOf(times, now), pushable: false },
});

/** A presence in the legacy format. */
const legacyPresenceObject = (presence: FullPresence, now: number) => ({
  aggregated: { client: 'website', ...statusOf(presence, now) },
  ...legacyClients(presence, now),
});

/** The legacy format of `GET /users/{user}/presence`. */
export function singlePresenceObject(presence: FullPresence, now: number) {
  const shown = statusOf(presence, now);
  const status = now - shown.timestamp > OFFLINE_SECONDS ? 'offline' : shown.status;
  return { aggregated: { ...shown, status }, website: shown };
}

/** Users whose account is needed, since it has the time when they joined. */
export const neverActiveIds = (presences: readonly Presence[]): number[] =>
  presences.flatMap((presence) => (hasBeenActive(presence) ? [] : [presence.userId]));

const hasBeenActive = (presence: Presence): presence is FullPresence => presence.active !== undefined;

/**
 * The presences of the last `days` of active users. `now` is in seconds. Only users in `users` are included. With
 * `isRecent`, all `presences` are of users who were authenticated moments ago: then `users` need only have those of
 * `neverActiveIds`.
 */
export function shownPresences(
  presences: readonly Presence[],
  users: readonly User[],
  {
    days = HISTORY_DAYS,
    now,
    isRecent = false,
  }: { days?: number | undefined; now: number; isRecent?: boolean },
): FullPresence[] {
  const accounts = new Map(users.map((user) => [user.userId, user]));
  const oldest = now - days * DAY;
  return presences.flatMap((presence) => {
    if (presence.idle < oldest) return [];
    if (isRecent && hasBeenActive(presence)) return [presence];
    const user = accounts.get(presence.userId);
    return user?.isActive ? [withActiveTime(presence, user)] : [];
  });
}

/** Presences in the modern format, by user id. */
export const slimPresences = (presences: readonly FullPresence[]) =>
  Object.fromEntries(presences.map((presence) => [presence.userId, presenceObject(presence)]));

/** Presences in the legacy format, by email address. */
export function legacyPresences(presences: readonly FullPresence[], users: readonly User[], now: number) {
  const addresses = new Map(users.map(({ userId, email }) => [userId, email]));
  return Object.fromEntries(
    presences.map((presence) => [addresses.get(presence.userId) ?? '', legacyPresenceObject(presence, now)]),
  );
}
