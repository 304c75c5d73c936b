import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { isPassing, isRefused } from '../../table/write.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    presence: Presence;
    pulse: Presence;
  }
}

/**
 * When somebody was last here, as stored; times are seconds since 1970.
 *
 * It stands in two kinds of items. A `pulse` is written with each ping that tells something new, among those of a
 * slot of time: what happened lately is read at the cost of those who were here lately. The `presence` of a person
 * is written with their first ping of a slot, and stays for a year. Neither has an event: clients ask again with
 * each of their own pings.
 */
export interface Presence {
  readonly userId: number;
  /** When it was written: of two items, the newer one counts. */
  readonly at: number;
  /** When they last did something; absent where that is not known. */
  readonly active?: number;
  /** When a client of theirs was last connected. */
  readonly idle: number;
  /** They do not show their presence: no ping may change it until they want to. */
  readonly hidden?: true;
  /** When DynamoDB may delete it. */
  readonly expires: number;
}

/** Seconds without a ping after which a user is offline. */
export const OFFLINE_SECONDS = 200;

/** Length of a slot of time, seconds. */
const SLOT = 300;

/** How long a pulse and a presence are kept, seconds. */
const KEPT = { pulse: 3_600, presence: 366 * 86_400 } as const;

/** Since how long ago (seconds) it is read slot by slot what happened; what is older is read from the presences. */
const LATELY = 3_000;

/** Whether what was written since then is read at the cost of those who were here since. Both in seconds. */
export const isLately = (since: number | undefined, now: number): since is number =>
  since !== undefined && now - since <= LATELY;

/** Milliseconds, as the rest of the service has them, in the seconds of presences. */
export const seconds = (ms: number): number => Math.floor(ms / 1000);

/**
 * The update id of a reply: the time (seconds) up to which a client has been told everything. It is somewhat earlier
 * than the reply, so that what is being written then, perhaps by another clock, is told with the next one.
 */
export const updateId = (now: number): number => now - OVERLAP;
const OVERLAP = 10;

export const slotOf = (now: number): number => Math.floor(now / SLOT);

export const pulseKey = (realm: string, slot: number, userId: number) =>
  key('pulse', { realm, slot, userId });
export const presenceKey = (realm: string, userId: number) => key('presence', { realm, userId });

/** The item of either kind, with the time until which it is kept. */
export const kept = (kind: keyof typeof KEPT, presence: Omit<Presence, 'expires'>) => ({
  ...presence,
  expires: presence.at + KEPT[kind],
});

/** What is stored of one person. */
export interface OwnPresence {
  /** Their pulse in the slot of now. */
  readonly pulse: Presence | undefined;
  /** The newest there is of them. */
  readonly last: Presence | undefined;
}

/** Reads what is stored of one person at `now` (seconds). One round trip. */
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
  const last = [presence, previous, pulse].reduce(newer, undefined);
  return { pulse, last };
}

const newer = (a: Presence | undefined, b: Presence | undefined): Presence | undefined =>
  a === undefined || (b !== undefined && b.at >= a.at) ? b : a;

/**
 * The people of whom something was written after `since` (seconds), the newest of each. Since lately it costs what
 * those who were here since then cost; since longer, or always (`undefined`), what everybody of a year costs. It may
 * miss what was written a second ago. One round trip.
 */
export async function loadPresences(
  table: Table,
  realm: string,
  since: number | undefined,
  now: number,
): Promise<Presence[]> {
  const lately = isLately(since, now);
  const first = lately ? slotOf(since) : slotOf(now) - 1;
  const slots = Array.from({ length: Math.max(0, slotOf(now) - first + 1) }, (_, i) => first + i);
  const lists = await Promise.all([
    ...(lately ? [] : [table.all('presence', { realm }, cheaply)]),
    ...slots.map((slot) => table.all('pulse', { realm, slot }, cheaply)),
  ]);
  const newest = new Map<number, Presence>();
  for (const presence of lists.flat()) {
    newest.set(presence.userId, newer(newest.get(presence.userId), presence) ?? presence);
  }
  return [...newest.values()].filter(({ at }) => at > (since ?? 0));
}

/** Half a consistent read's price: a client that misses somebody hears of them with its next ping. */
const cheaply = { eventually: true };

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
  const gone = { userId, at: now, idle: now - OFFLINE_SECONDS - GONE, hidden: true as const };
  return [
    { put: presenceKey(realm, userId), item: kept('presence', gone) },
    { put: pulseKey(realm, slotOf(now), userId), item: kept('pulse', gone) },
    { put: pulseKey(realm, slotOf(now) + 1, userId), item: kept('pulse', gone) },
  ];
};

/** So much longer than it takes to be called offline (seconds), whatever the clocks of clients say. */
const GONE = 120;
