import type { User } from '../../model/user/user.ts';
import { OFFLINE_SECONDS, type Presence, seconds } from './presence.ts';

/** Seconds after which somebody who did something is called idle, in the words of older clients. */
const IDLE = 120;

/** Days of history that are told unless a client asks for others. */
const HISTORY = 14;

const DAY = 86_400;

/** A presence with both of its times, as every client is told them. */
export interface ToldPresence extends Presence {
  readonly active: number;
}

/** The same presence; somebody who was never active counts as active when they joined. */
export const sinceJoining = (presence: Presence, { dateJoined }: Pick<User, 'dateJoined'>): ToldPresence => ({
  ...presence,
  active: presence.active ?? seconds(Date.parse(dateJoined)),
});

/** Somebody's presence as modern clients read it. */
export const presenceObject = ({ active, idle }: ToldPresence) => ({
  active_timestamp: active,
  idle_timestamp: idle,
});

/** The status and its time in the words of older clients. */
function statusOf({ active, idle }: ToldPresence, now: number) {
  return now - active <= IDLE ? { status: 'active', timestamp: active } : { status: 'idle', timestamp: idle };
}

/** The same as older clients read it: there is one client, and it stands for all. */
function legacyPresenceObject(presence: ToldPresence, now: number) {
  const told = { client: 'website', ...statusOf(presence, now) };
  return { aggregated: told, website: { ...told, pushable: false } };
}

/** The same for those who ask about one person. */
export function singlePresenceObject(presence: ToldPresence, now: number) {
  const told = statusOf(presence, now);
  const status = now - told.timestamp > OFFLINE_SECONDS ? 'offline' : told.status;
  return { aggregated: { ...told, status }, website: told };
}

/** Whose presence cannot be told without their account, which says when they joined. */
export const neverActive = (presences: readonly Presence[]): number[] =>
  presences.flatMap((presence) => (hasBeenActive(presence) ? [] : [presence.userId]));

const hasBeenActive = (presence: Presence): presence is ToldPresence => presence.active !== undefined;

/**
 * The presences of the last `days`, of those who are not deactivated. `now` is in seconds.
 *
 * A presence is told if `users` has its person. Where `isLately`, everybody in `presences` was let in moments ago: then
 * `users` are only those of `neverActive`, and whoever has been active is told without.
 */
export function shownPresences(
  presences: readonly Presence[],
  users: readonly User[],
  { days = HISTORY, now, isLately = false }: { days?: number | undefined; now: number; isLately?: boolean },
): ToldPresence[] {
  const accounts = new Map(users.map((user) => [user.userId, user]));
  const oldest = now - days * DAY;
  return presences.flatMap((presence) => {
    if (presence.idle < oldest) return [];
    if (isLately && hasBeenActive(presence)) return [presence];
    const user = accounts.get(presence.userId);
    return user?.isActive ? [sinceJoining(presence, user)] : [];
  });
}

/** The presences in their modern form, by user id. */
export const slimPresences = (presences: readonly ToldPresence[]) =>
  Object.fromEntries(presences.map((presence) => [presence.userId, presenceObject(presence)]));

/** The presences as older clients read them, by address. */
export function legacyPresences(presences: readonly ToldPresence[], users: readonly User[], now: number) {
  const addresses = new Map(users.map(({ userId, email }) => [userId, email]));
  return Object.fromEntries(
    presences.map((presence) => [addresses.get(presence.userId) ?? '', legacyPresenceObject(presence, now)]),
  );
}
