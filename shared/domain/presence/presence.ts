import { key } from '../../table/keys.ts';
import { isPassing, isRefused } from '../../table/outcome.ts';
import type { Table } from '../../table/table.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    presence: Presence;
    pulse: Presence;
  }
}

/**
 * When a user was last here, as stored. Times are seconds since 1970.
 *
 * It is stored as two kinds of items. A `pulse` is written by each ping with news, under its time slot, so recent
 * changes cost only the users who were here recently. The `presence` of a user is written by their first ping in a
 * slot, and stays for a year. Clients poll with their own pings; there are events only of users who come online
 * (`arrival.ts`) or change whether they show their presence.
 */
export interface Presence {
  readonly userId: number;
  /** When it was written. Of two items the newer one counts. */
  readonly at: number;
  /** Last activity; absent if unknown. */
  readonly active?: number;
  /** Last connection of a client. */
  readonly idle: number;
  /** The user hides their presence: pings do not change it. */
  readonly hidden?: true;
  /** DynamoDB TTL. */
  readonly expires: number;
}

/** Seconds without a ping after which a user is offline. */
export const OFFLINE_SECONDS = 200;

const SLOT_SECONDS = 300;

const TTL_SECONDS = { pulse: 3_600, presence: 366 * 86_400 } as const;

/** Changes up to this age are read slot by slot; older ones from the presences. */
const RECENT_SECONDS = 3_000;

/** Whether changes since a time cost only the users who were here since. Both in seconds. */
export const isRecent = (since: number | undefined, now: number): since is number =>
  since !== undefined && now - since <= RECENT_SECONDS;

/** Milliseconds to the seconds of presences. */
export const seconds = (ms: number): number => Math.floor(ms / 1000);

/**
 * The update id of a reply: the time (seconds) up to which the client is complete. It lies slightly in the past, so
 * that concurrent writes, perhaps with another clock, are in the next reply.
 */
export const updateId = (now: number): number => now - OVERLAP_SECONDS;
const OVERLAP_SECONDS = 10;

export const slotOf = (now: number): number => Math.floor(now / SLOT_SECONDS);

export const pulseKey = (realm: string, slot: number, userId: number) =>
  key('pulse', { realm, slot, userId });
export const presenceKey = (realm: string, userId: number) => key('presence', { realm, userId });

/** An item of either kind, with its TTL. */
export const withExpiry = (kind: keyof typeof TTL_SECONDS, presence: Omit<Presence, 'expires'>) => ({
  ...presence,
  expires: presence.at + TTL_SECONDS[kind],
});

/** The stored presence of one user. */
export interface OwnPresence {
  /** The pulse in the current slot. */
  readonly pulse: Presence | undefined;
  /** The newest item. */
  readonly last: Presence | undefined;
  /** The latest activity that any of the items has; 0 if unknown. */
  readonly active: number;
}

/** Loads the presence of one user at `now` (seconds). One round trip. */
export async function loadPresence(
  table: Table,
  realm: string,
  userId: number,
  now: number,
): Promise<OwnPresence> {
  const slot = slotOf(now);
  const [pulse, previous, presence] = await Promise.all([
    table.get(pulseKey(realm, slot, userId)),
    table.get(pulseKey(realm, slot - 1, userId)),
    table.get(presenceKey(realm, userId)),
  ]);
  const items = [presence, previous, pulse];
  const active = Math.max(...items.map((item) => item?.active ?? 0));
  return { pulse, last: items.reduce(newer, undefined), active };
}

const newer = (a: Presence | undefined, b: Presence | undefined): Presence | undefined =>
  a === undefined || (b !== undefined && b.at >= a.at) ? b : a;

/**
 * Loads the presences that changed after `since` (seconds), the newest of each user. Recent changes cost the users
 * who were here since then; otherwise (or if undefined) all users of a year are read. May miss changes of the last
 * second. One round trip.
 */
export async function loadPresences(
  table: Table,
  realm: string,
  since: number | undefined,
  now: number,
): Promise<Presence[]> {
  const lately = isRecent(since, now);
  const first = lately ? slotOf(since) : slotOf(now) - 1;
  const slots = Array.from({ length: Math.max(0, slotOf(now) - first + 1) }, (_, i) => first + i);
  const lists = await Promise.all([
    ...(lately ? [] : [table.all('presence', { realm }, eventuallyConsistent)]),
    ...slots.map((slot) => table.all('pulse', { realm, slot }, eventuallyConsistent)),
  ]);
  const newest = new Map<number, Presence>();
  for (const presence of lists.flat()) {
    newest.set(presence.userId, newer(newest.get(presence.userId), presence) ?? presence);
  }
  return [...newest.values()].filter(({ at }) => at > (since ?? 0));
}

/** Half the price of a consistent read. A client that misses a change gets it with its next ping. */
export const eventuallyConsistent = { eventually: true };

export type PingStatus = 'active' | 'idle';

/** Each client pings once a minute. Pings of the same user within this time are dropped. */
const PING_INTERVAL_SECONDS = 50;

/**
 * Records a ping at `now` (seconds): at most one write unit, and a second one once per slot; none without news.
 * Returns the resulting presence. A ping that loses to another ping, to hiding the presence, or to a transient store
 * error is dropped: the next one comes within a minute.
 */
export async function recordPing(
  table: Table,
  realm: string,
  userId: number,
  { pulse, last }: OwnPresence,
  status: PingStatus,
  now: number,
): Promise<Presence | undefined> {
  const known = status === 'active' ? pulse?.active : pulse?.idle;
  if (last?.hidden || (known !== undefined && known > now - PING_INTERVAL_SECONDS)) return last;
  const active = status === 'active' ? now : last?.active;
  const next = { userId, at: now, idle: now, ...(active !== undefined && { active }) };
  const equals = { hidden: undefined };
  const tooOld = now - PING_INTERVAL_SECONDS + 1;
  // An idle ping must not overwrite a concurrent active one.
  const below = status === 'active' ? { active: tooOld } : { idle: tooOld };
  const puts = [
    table.put(pulseKey(realm, slotOf(now), userId), withExpiry('pulse', next), { equals, below }),
  ];
  if (pulse === undefined) {
    const when = { equals, below: { at: now } };
    puts.push(table.put(presenceKey(realm, userId), withExpiry('presence', next), when));
  }
  await Promise.all(puts.map((put) => put.catch(dropped)));
  return withExpiry('pulse', next);
}

function dropped(error: unknown): void {
  if (!isRefused(error) && !isPassing(error)) throw error;
}
