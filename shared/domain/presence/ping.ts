import { isPassing, isRefused } from '../../table/outcome.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { kept, type OwnPresence, type Presence, presenceKey, pulseKey, slotOf } from './presence.ts';
import { OFFLINE } from './presence-object.ts';

export type PingStatus = 'active' | 'idle';

/** Clients ping once a minute, and several clients of one person do: within so many seconds one ping is enough. */
const EVERY = 50;

/**
 * Notes a ping of a person at `now` (seconds): one write unit at most, and a second one in each slot of time; none
 * if it tells nothing new. Returns what is known of the person then. A ping that is outrun by another one, by the
 * wish not to be shown, or by trouble of the store is dropped: the next one comes within a minute.
 */
export async function notePing(
  table: Table,
  realm: string,
  userId: number,
  { pulse, last }: OwnPresence,
  status: PingStatus,
  now: number,
): Promise<Presence | undefined> {
  const known = status === 'active' ? pulse?.active : pulse?.idle;
  if (last?.hidden || (known !== undefined && known > now - EVERY)) return last;
  const active = status === 'active' ? now : last?.active;
  const next = { userId, at: now, idle: now, ...(active !== undefined && { active }) };
  const shown = { hidden: undefined };
  // An idle ping must not take back what an active one has said in the same moment.
  const isNews = status === 'active' ? { active: now - EVERY + 1 } : { idle: now - EVERY + 1 };
  const puts = [
    table.put(pulseKey(realm, slotOf(now), userId), kept('pulse', next), { equals: shown, below: isNews }),
    ...(pulse === undefined
      ? [table.put(presenceKey(realm, userId), kept('presence', next), { equals: shown, below: { at: now } })]
      : []),
  ];
  await Promise.all(puts.map((put) => put.catch(dropped)));
  return kept('pulse', next);
}

function dropped(error: unknown): void {
  if (!isRefused(error) && !isPassing(error)) throw error;
}

/**
 * What is stored when somebody wants to be shown again: they are here.
 */
export const doShowPresence = (realm: string, userId: number, now: number): Write[] => {
  const next = { userId, at: now, active: now, idle: now };
  return [
    { put: presenceKey(realm, userId), item: kept('presence', next) },
    { put: pulseKey(realm, slotOf(now), userId), item: kept('pulse', next) },
    { delete: pulseKey(realm, slotOf(now) + 1, userId) },
  ];
};

/**
 * What is stored when somebody does not want to be shown any more: they have just gone. The mark in this slot of
 * time and in the next one stops pings that are under way, which may have been let in before.
 */
export const doHidePresence = (realm: string, userId: number, now: number): Write[] => {
  const gone = { userId, at: now, idle: now - OFFLINE - GONE, hidden: true as const };
  return [
    { put: presenceKey(realm, userId), item: kept('presence', gone) },
    { put: pulseKey(realm, slotOf(now), userId), item: kept('pulse', gone) },
    { put: pulseKey(realm, slotOf(now) + 1, userId), item: kept('pulse', gone) },
  ];
};

/** So much longer than it takes to be called offline (seconds), whatever the clocks of clients say. */
const GONE = 120;
