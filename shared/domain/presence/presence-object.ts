import type { User } from '../user/user.ts';
import type { Presence } from './presence.ts';

/** Seconds without a ping after which somebody is offline. */
export const OFFLINE = 200;

/** Seconds after which somebody who did something is called idle, in the words of older clients. */
const IDLE = 120;

/** Days of history that are told unless a client asks for others. */
const HISTORY = 14;

const DAY = 86_400;

/** Somebody's presence as modern clients read it. */
export const presenceObject = ({ active, idle }: Presence) => ({
  ...(active !== undefined && { active_timestamp: active }),
  idle_timestamp: idle,
});

/** The status and its time in the words of older clients. */
function statusOf({ active, idle }: Presence, now: number) {
  return active !== undefined && now - active <= IDLE
    ? { status: 'active', timestamp: active }
    : { status: 'idle', timestamp: idle };
}

/** The same as older clients read it: there is one client, and it stands for all. */
function legacyPresenceObject(presence: Presence, now: number) {
  const told = { client: 'website', ...statusOf(presence, now) };
  return { aggregated: told, website: { ...told, pushable: false } };
}

/** The same for those who ask about one person. */
export function singlePresenceObject(presence: Presence, now: number) {
  const told = statusOf(presence, now);
  const status = now - told.timestamp > OFFLINE ? 'offline' : told.status;
  return { aggregated: { ...told, status }, website: told };
}

/**
 * The presences of the last `days`, without those of deactivated people; without the users, whom only those must know
 * who tell addresses or read old presences, everybody counts as active. `now` is in seconds.
 */
export function shownPresences(
  presences: readonly Presence[],
  users: readonly User[] | undefined,
  days: number | undefined,
  now: number,
): Presence[] {
  const active = users && new Set(users.flatMap(({ userId, isActive }) => (isActive ? [userId] : [])));
  const oldest = now - (days ?? HISTORY) * DAY;
  return presences.filter(({ userId, idle }) => idle >= oldest && (active?.has(userId) ?? true));
}

/** The presences in their modern form, by user id. */
export const slimPresences = (presences: readonly Presence[]) =>
  Object.fromEntries(presences.map((presence) => [presence.userId, presenceObject(presence)]));

/** The presences as older clients read them, by address. */
export function legacyPresences(presences: readonly Presence[], users: readonly User[], now: number) {
  const addresses = new Map(users.map(({ userId, email }) => [userId, email]));
  return Object.fromEntries(
    presences.map((presence) => [addresses.get(presence.userId) ?? '', legacyPresenceObject(presence, now)]),
  );
}
