import { badRequest, refusal } from '../../kernel/errors.ts';
import type { MessageHead } from '../../log/message.ts';
import { LARGEST_NUMBER } from '../../table/keys.ts';
import { uniqueSorted } from '../../unique.ts';
import type { Gathered } from '../reader/gather.ts';

/** Most messages of one fetch. */
export const MAX_FETCHED = 5_000;

/** How the reference tells the anchor behind all messages: a number that no message will ever have. */
const BEHIND_ALL = 10_000_000_000_000_000;

/** The part of a narrow that is asked for: so many messages on either side of an anchor. */
export interface Window {
  readonly anchor: number | 'first_unread';
  readonly before: number;
  readonly after: number;
  readonly includeAnchor: boolean;
}

/** A window whose anchor is a number. */
export type Placed = Window & { readonly anchor: number };

export const isPlaced = (window: Window): window is Placed => window.anchor !== 'first_unread';

/** Messages by their ids, in rising order. */
export interface ByIds {
  readonly ids: readonly number[];
}

export interface GivenWindow {
  readonly anchor?: string | undefined;
  /** The anchor is the first unread message, whatever `anchor` says (companion facts 1.16). */
  readonly use_first_unread_anchor?: boolean | undefined;
  readonly num_before?: number | undefined;
  readonly num_after?: number | undefined;
  readonly include_anchor?: boolean | undefined;
  readonly message_ids?: readonly number[] | undefined;
}

/** Decides what is asked for: a window, or messages by their ids. The two do not go together. */
export function checkWindow(given: GivenWindow): Window | ByIds {
  const { num_before: before = 0, num_after: after = 0, include_anchor: includeAnchor = true } = given;
  const ids = given.message_ids;
  const anchor = given.use_first_unread_anchor ? 'first_unread' : given.anchor;
  if (ids !== undefined) {
    if (before > 0 || after > 0 || anchor !== undefined) {
      throw refusal('incompatibleParameters', {
        parameters: ['num_before', 'num_after', 'anchor', 'message_ids', 'include_anchor'],
      });
    }
    if (ids.length > MAX_FETCHED) throw tooMany();
    return { ids: uniqueSorted(ids) };
  }
  if (before + after > MAX_FETCHED) throw tooMany();
  if (before > 0 && after > 0 && !includeAnchor) {
    throw badRequest('The anchor can only be left out at an end of the messages that are asked for.');
  }
  return { anchor: anchorIn(anchor), before, after, includeAnchor };
}

const tooMany = () => badRequest(`At most ${MAX_FETCHED} messages can be fetched at once.`);

function anchorIn(given: string | undefined): number | 'first_unread' {
  switch (given) {
    case undefined:
      throw badRequest("The parameter 'anchor' is required.");
    case 'newest':
      return BEHIND_ALL;
    case 'oldest':
      return 0;
    case 'first_unread':
      return given;
    case 'date':
      throw badRequest("The anchor 'date' is not supported.");
    default:
      if (!/^-?\d+$/.test(given)) throw badRequest("'anchor' is not the ID of a message.");
      return Math.min(Math.max(0, Number(given)), BEHIND_ALL);
  }
}

/** The window at the first unread message, or behind all messages where none is unread. */
export const placedAt = (window: Window, first: MessageHead | undefined): Placed => ({
  ...window,
  anchor: typeof window.anchor === 'number' ? window.anchor : (first?.id ?? BEHIND_ALL),
});

/** What must be found for a window: messages below `pivot`, and messages from it on. */
export interface Wanted {
  readonly pivot: number;
  readonly older: number;
  readonly newer: number;
}

const isBehindAll = ({ anchor }: Placed): boolean => anchor >= BEHIND_ALL;

/** The anchor itself is looked for on the side that is read anyway. */
export function wantedFor(window: Placed): Wanted {
  const after = isBehindAll(window) ? 0 : window.after;
  const before = window.anchor === 0 ? 0 : window.before;
  const one = window.includeAnchor && !isBehindAll(window) ? 1 : 0;
  const anchor = Math.min(window.anchor, LARGEST_NUMBER + 1);
  if (after > 0) return { pivot: anchor + (one === 1 ? 0 : 1), older: before, newer: after + one };
  return { pivot: Math.min(anchor + one, LARGEST_NUMBER + 1), older: before + one, newer: 0 };
}

/** Nearest to the anchor first. An anchor behind all messages is brought near, to where numbers are exact. */
export function byDistance(
  anchor: number,
): (a: { readonly id: number }, b: { readonly id: number }) => number {
  const center = Math.min(anchor, LARGEST_NUMBER + 1);
  return (a, b) => Math.abs(a.id - center) - Math.abs(b.id - center);
}

/** A window as it was found, in the words of the wire. Messages are in rising order. */
export interface Found {
  readonly heads: readonly MessageHead[];
  readonly found_anchor: boolean;
  readonly found_oldest: boolean;
  readonly found_newest: boolean;
  /** There may be older or newer messages that this service does not find in any number of fetches. */
  readonly history_limited: boolean;
}

/**
 * Puts the sides of a window together and says what was found. Where a search gave up, the side goes on if it found
 * anything, so that the client asks again from there; if it found nothing, there is nowhere to go on from.
 */
export function foundIn(window: Placed, older: Gathered, newer: Gathered): Found {
  const heads = [...older.heads, ...newer.heads];
  const { anchor } = window;
  const near = heads.toSorted(byDistance(anchor));
  const before = near.filter(({ id }) => id < anchor).slice(0, window.before);
  const after = near.filter(({ id }) => id > anchor).slice(0, window.after);
  const own = heads.filter(({ id }) => id === anchor);
  const gaveUp = (side: Gathered, found: readonly unknown[]): boolean => !side.complete && found.length === 0;
  const ends = (side: Gathered, found: readonly unknown[], count: number): boolean =>
    side.complete ? found.length < count : gaveUp(side, found);
  return {
    heads: [...before, ...own, ...after].sort((a, b) => a.id - b.id),
    found_anchor: own.length === 1,
    found_oldest: anchor === 0 || ends(older, before, window.before),
    found_newest: isBehindAll(window) || ends(newer, after, window.after),
    history_limited: gaveUp(older, before) || gaveUp(newer, after),
  };
}
