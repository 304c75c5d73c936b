import { legacyPresences, shownPresences, slimPresences } from '../presence/object.ts';
import { loadPresences, seconds, updateId } from '../presence/presence.ts';
import { loadStatuses, statusObject } from '../presence/status.ts';
import type { Section } from './section.ts';

/** Who was here lately. Clients go on from there with their own pings. */
const presence: Section = async ({ outside, caller, known, slimPresence, presenceDays }) => {
  const now = seconds(outside.now());
  const isOff = caller.realm.settings.presence_disabled;
  const [presences, users] = await Promise.all([
    isOff ? [] : loadPresences(outside.table, caller.realmId, undefined, now),
    known(),
  ]);
  const shown = shownPresences(presences, users, { days: presenceDays, now });
  return {
    presences: slimPresence ? slimPresences(shown) : legacyPresences(shown, users, now),
    presence_last_update_id: updateId(now),
    server_timestamp: outside.now() / 1000,
  };
};

/** What people say of themselves. */
const userStatus: Section = async ({ outside, caller, known }) => {
  const [statuses, users] = await Promise.all([loadStatuses(outside.table, caller.realmId), known()]);
  const active = new Set(users.flatMap(({ userId, isActive }) => (isActive ? [userId] : [])));
  const told = statuses.filter(({ userId }) => active.has(userId));
  return { user_status: Object.fromEntries(told.map((status) => [status.userId, statusObject(status)])) };
};

export const presenceSections = { presence, user_status: userStatus } satisfies Record<string, Section>;
