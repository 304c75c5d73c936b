import type { Outside } from '../../kernel/outside.ts';
import { ConflictError } from '../../log/commit.ts';
import type { Log } from '../../log/log.ts';
import { retryOnConflict } from '../../log/retry-on-conflict.ts';
import type { MessageSlot, Slot } from '../../log/slot.ts';
import {
  dueAt,
  limitOfChannel,
  limitOfOrganization,
  type RetentionLimit,
} from '../../model/channel/retention.ts';
import { indexedMessages, loadMessages } from '../../model/message/load.ts';
import { LARGEST_NUMBER } from '../../table/keys.ts';
import { expire, stepsOf } from './expire.ts';

/** A visit to messages that have a limit, in a run that ends. */
export interface Visit {
  readonly outside: Outside;
  readonly log: Log;
  /** When (ms) it must end. */
  readonly ends: number;
  /** Counts what was removed. */
  readonly onRemoved: (count: number) => void;
}

/** A part of a place, oldest messages first, and the limit that it was judged by. */
interface Page {
  readonly limit: RetentionLimit;
  /** Messages that have had their days. */
  readonly due: readonly MessageSlot[];
  /** Up to which number nothing is left when these are gone, of what has had its days. */
  readonly until: number;
  /** When (ms) the first message that is still kept is due; undefined where the page has none. */
  readonly next: number | undefined;
  /** Whether there is a page behind it. */
  readonly more: boolean;
}

/** A place whose messages stand in the order of their numbers. */
interface Place {
  /** Reads the part that begins at a number; undefined where nothing limits it (any more). */
  readonly load: (from: number) => Promise<Page | undefined>;
  /** Notes that nothing is left up to this number. */
  readonly passed?: (until: number) => Promise<void>;
}

/** Most messages that are read at once: with the longest texts they are 4 MB. */
const PAGE = 100;
/** Most slots of the log that are read at once; a query stops at 1 MB by itself. */
const SLOTS = 1_000;
/**
 * How long (ms) to wait for each message that was removed. The log of an organization is one partition, which takes
 * 1,000 write units a second: at most a quarter of them is used here, so that people can write at the same time.
 */
const PACE = 10;

/**
 * Removes what is due in a channel. Returns when (ms) something is due again at the earliest; undefined where the
 * visit ended first, and the channel must be visited again to go on.
 */
export const expireInChannel = (visit: Visit, channelId: number): Promise<number | undefined> =>
  walk(visit, 0, { load: (from) => loadChannelPage(visit, channelId, from) });

/**
 * The same for the direct messages of an organization. They have no index of their own, so the log itself is read,
 * each part of it once: `from` is where to go on, and `passed` notes how far it came.
 */
export const expireDirect = (
  visit: Visit,
  from: number,
  passed: NonNullable<Place['passed']>,
): Promise<number | undefined> => walk(visit, from, { load: (start) => loadLogPage(visit, start), passed });

async function walk(visit: Visit, start: number, place: Place): Promise<number | undefined> {
  const { outside } = visit;
  let from = start;
  while (outside.now() < visit.ends) {
    // Somebody may change the limit or write to a topic meanwhile, or another run be at it.
    const page = await retryOnConflict(outside, async () => {
      const read = await place.load(from);
      return read && { ...read, isEmptied: await expireAll(visit, read) };
    });
    if (page === undefined) return Number.POSITIVE_INFINITY;
    if (!page.isEmptied) continue;
    if (page.until >= from) await place.passed?.(page.until);
    if (page.next !== undefined) return page.next;
    // A message that comes now has all of its days before it.
    if (!page.more) return dueAt(Math.floor(outside.now() / 1000), page.limit);
    from = page.until + 1;
  }
  return undefined;
}

/** Removes what is due of a page; false where the visit ended first, or a conflict came after some were removed. */
async function expireAll({ outside, log, ends, onRemoved }: Visit, { due, limit }: Page): Promise<boolean> {
  let removed = 0;
  for (const step of stepsOf(due)) {
    if (outside.now() >= ends) return false;
    try {
      await expire(outside, log, step, limit);
    } catch (error) {
      if (error instanceof ConflictError && removed > 0) return false;
      throw error;
    }
    removed += step.length;
    onRemoved(step.length);
    await outside.wait(step.length * PACE);
  }
  return true;
}

async function loadChannelPage(
  { outside: { table, now }, log: { realm } }: Visit,
  channelId: number,
  from: number,
): Promise<Page | undefined> {
  // Nothing young is due, and what moved here a moment ago is met by the next visit.
  const reach = indexedMessages(table, realm, { channelId });
  const { heads, until } = await reach({ from, to: LARGEST_NUMBER, side: 'newer', limit: PAGE });
  const ids = heads.map(({ id }) => id);
  const [messages, channel, organization] = await Promise.all([
    loadMessages(table, realm, ids),
    table.get('channel', { realm, channelId }),
    table.get('realm', { realm }),
  ]);
  const limit = limitOfChannel(realm, organization, channel);
  if (limit === undefined) return undefined;
  // What the index still shows may have been removed or moved since.
  const here = messages.filter((message) => message.channelId === channelId).sort((a, b) => a.id - b.id);
  const isDue = ({ timestamp }: MessageSlot): boolean => dueAt(timestamp, limit) <= now();
  const kept = here.find((message) => !isDue(message));
  return {
    limit,
    due: here.filter(isDue),
    until: until ?? LARGEST_NUMBER,
    next: kept && dueAt(kept.timestamp, limit),
    more: until !== undefined,
  };
}

async function loadLogPage(
  { outside: { table, now }, log: { realm } }: Visit,
  from: number,
): Promise<Page | undefined> {
  const [{ items, more }, organization] = await Promise.all([
    table.page('slot', { realm }, { from: { seq: from }, limit: SLOTS, eventually: true }),
    table.get('realm', { realm }),
  ]);
  const limit = limitOfOrganization(realm, organization);
  if (limit === undefined) return undefined;
  // Numbers are older the lower they are, whatever they stand for: behind the first young one nothing is due.
  const young = items.findIndex((slot) => dueAt(timeOf(slot), limit) > now());
  const old = young < 0 ? items : items.slice(0, young);
  const first = items[young];
  return {
    limit,
    due: old.filter((slot) => slot.kind === 'message').filter(({ channelId }) => channelId === undefined),
    until: old.at(-1)?.seq ?? from - 1,
    next: first && dueAt(timeOf(first), limit),
    more,
  };
}

/** When a slot was written, seconds. */
const timeOf = (slot: Slot): number =>
  slot.kind === 'message' ? slot.timestamp : Math.floor(slot.at / 1000);
