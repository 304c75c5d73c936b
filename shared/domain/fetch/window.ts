import { badRequest, refusal } from '../../kernel/errors.ts';
import { uniqueSorted } from '../../lists.ts';
import type { MessageHead } from '../../log/message.ts';
import { LARGEST_NUMBER } from '../../table/keys.ts';
import type { SearchResult } from '../reader/merge-streams.ts';

/** Most messages of one fetch. */
export const MAX_FETCHED = 5_000;

/** The anchor `newest`, as the reference writes it: an id that no message will ever have. */
const NEWEST_ANCHOR = 10_000_000_000_000_000;

/** An id after all messages, within the range of exact numbers. */
export const END = LARGEST_NUMBER + 1;

/** A requested window: so many messages before and after an anchor. */
export interface Window {
  /** The id of a message, or the first one that is unread or not older than a time (ms). */
  readonly anchor: number | 'first_unread' | { readonly time: number };
  readonly before: number;
  readonly after: number;
  readonly includeAnchor: boolean;
}

/** A window whose anchor is a number. */
export type AnchoredWindow = Window & { readonly anchor: number };

export const isAnchored = (window: Window): window is AnchoredWindow => typeof window.anchor === 'number';

/** Requested messages by id, in rising order. */
export interface ByIds {
  readonly ids: readonly number[];
}

export interface RangeParameters {
  readonly anchor?: string | undefined;
  /** For the anchor `date`. */
  readonly anchor_date?: string | undefined;
  /** The anchor is the first unread message, whatever `anchor` is (companion facts 1.16). */
  readonly use_first_unread_anchor?: boolean | undefined;
  readonly num_before?: number | undefined;
  readonly num_after?: number | undefined;
  readonly include_anchor?: boolean | undefined;
}

export interface WindowParameters extends RangeParameters {
  readonly message_ids?: readonly number[] | undefined;
}

/** Parses the parameters: a window, or messages by their ids, but not both. Throws `BAD_REQUEST`. */
export function checkWindow(input: WindowParameters): Window | ByIds {
  const { num_before: before = 0, num_after: after = 0, message_ids: ids } = input;
  if (ids === undefined) return checkRange(input);
  if (before > 0 || after > 0 || anchorOf(input) !== undefined) {
    throw refusal('incompatibleParameters', {
      parameters: ['num_before', 'num_after', 'anchor', 'message_ids', 'include_anchor'],
    });
  }
  if (ids.length > MAX_FETCHED) throw tooMany();
  return idsWindow(ids);
}

/** Messages by id, each once. */
export const idsWindow = (ids: readonly number[]): ByIds => ({ ids: uniqueSorted(ids) });

const anchorOf = ({ use_first_unread_anchor: isFirstUnread, anchor }: RangeParameters): string | undefined =>
  isFirstUnread ? 'first_unread' : anchor;

/** Parses the parameters of a window. Throws `BAD_REQUEST`. */
export function checkRange(input: RangeParameters): Window {
  const { num_before: before = 0, num_after: after = 0, include_anchor: includeAnchor = true } = input;
  if (before + after > MAX_FETCHED) throw tooMany();
  if (before > 0 && after > 0 && !includeAnchor) {
    throw badRequest("'include_anchor' can only be false if the anchor is at an end of the window.");
  }
  return { anchor: parseAnchor(anchorOf(input), input.anchor_date), before, after, includeAnchor };
}

/**
 * The window with at most `MAX_FETCHED` messages. Half of them may always stand before the anchor (companion facts 1.11).
 */
export function clampedRange<R extends RangeParameters>(window: R): R {
  const { num_before: before = 0, num_after: after = 0 } = window;
  const older = Math.min(before, Math.max(MAX_FETCHED - after, MAX_FETCHED / 2));
  return { ...window, num_before: older, num_after: Math.min(after, MAX_FETCHED - older) };
}

/** The newest messages, as many as one request finds. */
export const newestWindow: Window = {
  anchor: NEWEST_ANCHOR,
  before: MAX_FETCHED,
  after: 0,
  includeAnchor: true,
};

const tooMany = () => badRequest(`At most ${MAX_FETCHED} messages can be fetched at once.`);

function parseAnchor(anchor: string | undefined, date: string | undefined): Window['anchor'] {
  switch (anchor) {
    case undefined:
      throw badRequest("The parameter 'anchor' is required.");
    case 'newest':
      return NEWEST_ANCHOR;
    case 'oldest':
      return 0;
    case 'first_unread':
      return anchor;
    case 'date':
      return { time: timeIn(date) };
    default:
      if (!/^-?\d+$/.test(anchor)) throw badRequest("'anchor' is not the ID of a message.");
      return Math.min(Math.max(0, Number(anchor)), NEWEST_ANCHOR);
  }
}

/** A date, perhaps with a time, perhaps with its zone (ISO 8601). */
const DATE = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** The time of `anchor_date` (ms); without a zone it is UTC (companion facts 1.16). */
function timeIn(date: string | undefined): number {
  if (date === undefined) throw badRequest("The anchor 'date' needs 'anchor_date'.");
  const [, day = '', time = '00:00', zone = 'Z'] = DATE.exec(date) ?? [];
  const at = Date.parse(`${day}T${time}${zone.replace(/^(...)(\d\d)$/, '$1:$2')}`);
  const isDay = Number.isFinite(at) && new Date(`${day}T00:00Z`).toISOString().startsWith(day);
  if (!isDay) throw badRequest("'anchor_date' is not a date or time of ISO 8601.");
  return at;
}

/** Anchors a window at the first message that it asks for, or after all messages if there is none. */
export const anchoredAt = (window: Window, first: MessageHead | undefined): AnchoredWindow => ({
  ...window,
  anchor: typeof window.anchor === 'number' ? window.anchor : (first?.id ?? NEWEST_ANCHOR),
});

/** How many messages to find below `pivot`, and from it up. */
export interface Around {
  readonly pivot: number;
  readonly older: number;
  readonly newer: number;
  /** Find as many as for a condition that few messages meet. */
  readonly isFiltered?: boolean;
}

const isNewest = ({ anchor }: AnchoredWindow): boolean => anchor >= NEWEST_ANCHOR;

/** What to find for a window. The anchor itself is searched for on a side that is read anyway. */
export function aroundAnchor(window: AnchoredWindow): Around {
  const after = isNewest(window) ? 0 : window.after;
  const before = window.anchor === 0 ? 0 : window.before;
  const own = window.includeAnchor && !isNewest(window) ? 1 : 0;
  const anchor = Math.min(window.anchor, END);
  if (after > 0) return { pivot: anchor + 1 - own, older: before, newer: after + own };
  return { pivot: Math.min(anchor + own, END), older: before + own, newer: 0 };
}

/** Sorts the nearest to the anchor first. */
export function byDistance(
  anchor: number,
): (a: { readonly id: number }, b: { readonly id: number }) => number {
  const center = Math.min(anchor, END);
  return (a, b) => Math.abs(a.id - center) - Math.abs(b.id - center);
}

/** The messages of a window in rising order, and the fields of the reply about them. */
export interface WindowResult {
  readonly heads: readonly MessageHead[];
  readonly found_anchor: boolean;
  readonly found_oldest: boolean;
  readonly found_newest: boolean;
  /** There may be older or newer messages that this service does not find in any number of fetches. */
  readonly history_limited: boolean;
}

/**
 * Joins the two sides of a window. If the search on a side gave up after it found something, the reply says that there is
 * more, and the client continues from there. If it found nothing, the client could not continue: the history is limited.
 */
export function windowResult(window: AnchoredWindow, older: SearchResult, newer: SearchResult): WindowResult {
  const heads = [...older.heads, ...newer.heads];
  const { anchor } = window;
  const near = heads.toSorted(byDistance(anchor));
  const before = near.filter(({ id }) => id < anchor).slice(0, window.before);
  const after = near.filter(({ id }) => id > anchor).slice(0, window.after);
  const own = heads.filter(({ id }) => id === anchor);
  return {
    heads: [...before, ...own, ...after].sort((a, b) => a.id - b.id),
    found_anchor: own.length === 1,
    found_oldest: anchor === 0 || before.length < (older.isComplete ? window.before : 1),
    found_newest: isNewest(window) || after.length < (newer.isComplete ? window.after : 1),
    history_limited: (!older.isComplete && before.length === 0) || (!newer.isComplete && after.length === 0),
  };
}
