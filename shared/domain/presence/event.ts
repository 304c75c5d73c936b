import type { Step } from '../../log/bulk.ts';
import { type EventEntry, eventForEveryone, type Payload } from '../../log/slot.ts';
import type { User } from '../../model/user/user.ts';
import { legacyClients, presenceObject, withActiveTime } from './object.ts';
import { OFFLINE_SECONDS, type Presence, presenceKey, pulseKey, slotOf, withExpiry } from './presence.ts';

/** A `presence` event as the log has it; `presencePayload` makes the form of each client. */
interface StoredPayload extends Payload {
  readonly user_id: number;
  readonly email: string;
  readonly server_timestamp: number;
  readonly active_timestamp: number;
  readonly idle_timestamp: number;
}

/** Tells at `now` (seconds) when a user was last here. It is momentary, since clients ask for all presences each minute. */
export function presenceEvent(user: User, presence: Omit<Presence, 'expires'>, now: number): EventEntry {
  const { userId, email } = user;
  const times = presenceObject(withActiveTime(withExpiry('presence', presence), user));
  const payload: StoredPayload = {
    type: 'presence',
    user_id: userId,
    email,
    server_timestamp: now,
    ...times,
  };
  return eventForEveryone(payload, { momentary: true });
}

/**
 * A `presence` event for a client. Those with `simplified_presence_events` get the modern format; others the legacy one,
 * without the address if they registered with `slim_presence`.
 */
export function presencePayload(
  stored: Payload,
  { isModern, isSlim }: { readonly isModern: boolean; readonly isSlim: boolean },
): Payload {
  const { type, user_id, email, server_timestamp, active_timestamp, idle_timestamp } =
    stored as StoredPayload;
  if (isModern) return { type, presences: { [user_id]: { active_timestamp, idle_timestamp } } };
  const times = { active: active_timestamp, idle: idle_timestamp };
  const presence = legacyClients(times, server_timestamp);
  return { type, user_id, ...(!isSlim && { email }), server_timestamp, presence };
}

/** Shows the presence of a user again, as active now. */
export function doShowPresence(realm: string, user: User, now: number): Step {
  const { userId } = user;
  const next = { userId, at: now, active: now, idle: now };
  return {
    writes: [
      { put: presenceKey(realm, userId), item: withExpiry('presence', next) },
      { put: pulseKey(realm, slotOf(now), userId), item: withExpiry('pulse', next) },
      { delete: pulseKey(realm, slotOf(now) + 1, userId) },
    ],
    entries: [presenceEvent(user, next, now)],
  };
}

/** Hides the presence of a user, as offline. The marks in this slot and the next stop concurrent pings. */
export function doHidePresence(realm: string, user: User, now: number): Step {
  const { userId } = user;
  const gone = { userId, at: now, idle: now - OFFLINE_SECONDS - HIDDEN_SECONDS, hidden: true as const };
  return {
    writes: [
      { put: presenceKey(realm, userId), item: withExpiry('presence', gone) },
      { put: pulseKey(realm, slotOf(now), userId), item: withExpiry('pulse', gone) },
      { put: pulseKey(realm, slotOf(now) + 1, userId), item: withExpiry('pulse', gone) },
    ],
    entries: [presenceEvent(user, gone, now)],
  };
}

/** Margin beyond the offline threshold, for clients with inexact clocks. */
const HIDDEN_SECONDS = 120;
