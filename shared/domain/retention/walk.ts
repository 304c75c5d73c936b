import type { Outside } from '../../kernel/outside.ts';
import { commitTo } from '../../log/checkpoint.ts';
import { ConflictError, retryOnConflict } from '../../log/commit.ts';
import type { Log } from '../../log/log.ts';
import type { MessageSlot, Slot } from '../../log/slot.ts';
import {
  dueAt,
  limitOfChannel,
  limitOfOrganization,
  type RetentionLimit,
} from '../../model/channel/retention.ts';
import { indexedMessages, loadMessages } from '../../model/message/load.ts';
import { LARGEST_NUMBER } from '../../table/keys.ts';
import { REMOVAL_PACE, removalSteps, removeTogether } from '../edit/removal-step.ts';

/** The run of the worker on one organization. */
export interface Visit {
  readonly outside: Outside;
  readonly log: Log;
  /** When (ms) it must end. */
  readonly ends: number;
  /** Counts what was removed. */
  readonly onRemoved: (count: number) => void;
}

/** Part of a scope, oldest messages first, and the limit that applies. */
interface Page {
  readonly limit: RetentionLimit;
  /** Messages older than the limit. */
  readonly due: readonly MessageSlot[];
  /** No older message up to this number is left once these are removed. */
  readonly until: number;
  /** When (ms) the first message that is kept is due; undefined if the page has none. */
  readonly next: number | undefined;
  /** There are more pages. */
  readonly more: boolean;
}

/** Messages in the order of their numbers. */
interface Place {
  /** Reads the page that begins at a number; undefined if there is no limit (any more). */
  readonly load: (from: number) => Promise<Page | undefined>;
  /** Stores that nothing is left up to this number. */
  readonly passed?: (until: number) => Promise<void>;
}

/** Messages per read: 4 MB with the longest texts. */
const PAGE = 100;
/** Log slots per read; a query stops at 1 MB by itself. */
const SLOTS = 1_000;
/**
 * Removes what is due in a channel. Returns when (ms) the next message is due; undefined if the time ran out.
 */
export const expireInChannel = (visit: Visit, channelId: number): Promise<number | undefined> =>
  walk(visit, 0, { load: (from) => loadChannelPage(visit, channelId, from) });

/**
 * The same for direct messages. They have no common index, so this reads the log, each part of it once: `from` is
 * where the last run stopped, and `passed` stores the progress.
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
    // The limit or a topic may change concurrently, or another run may do the same work.
    const page = await retryOnConflict(outside, async () => {
      const read = await place.load(from);
      return read && { ...read, isEmptied: await expireAll(visit, read) };
    });
    if (page === undefined) return Number.POSITIVE_INFINITY;
    if (!page.isEmptied) continue;
    if (page.until >= from) await place.passed?.(page.until);
    if (page.next !== undefined) return page.next;
    // Nothing is left: the next message to expire is not sent yet.
    if (!page.more) return dueAt(Math.floor(outside.now() / 1000), page.limit);
    from = page.until + 1;
  }
  return undefined;
}

/** Removes what is due on a page; false if the time ran out, or on a conflict after some were removed. */
async function expireAll(visit: Visit, { due, limit }: Page): Promise<boolean> {
  const { outside, ends, onRemoved } = visit;
  let removed = 0;
  const commit = commitTo(outside, visit.log.realm);
  for (const step of removalSteps(due)) {
    if (outside.now() >= ends) return false;
    try {
      await removeTogether(outside, visit.log.realm, commit, step, limit.snapshot);
    } catch (error) {
      if (error instanceof ConflictError && removed > 0) return false;
      throw error;
    }
    removed += step.length;
    onRemoved(step.length);
    await outside.wait(step.length * REMOVAL_PACE);
  }
  return true;
}

async function loadChannelPage(
  { outside: { table, now }, log: { realm } }: Visit,
  channelId: number,
  from: number,
): Promise<Page | undefined> {
  // The index may be late: recent messages are not due, and the next run sees those that just moved here.
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
  // The index may show messages that are gone.
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
  // Slots are in order of time: after the first young one nothing is due.
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
