import { isDeepStrictEqual } from 'node:util';
import { traceOf } from '../../kernel/errors.ts';
import type { LookupKey } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import { key } from '../../table/keys.ts';
import { isState, type UnresolvedTerm } from './narrow.ts';

/**
 * Where the messages of a user were at their last fetch (DESIGN 7: a hint, never the truth). It is stored beside the
 * account and read together with it. A fetch reads these places while it reads the current subscriptions, which saves
 * one round trip: without it, fetches over many channels or conversations would take three in a warm container.
 */
export interface FeedHint {
  /** The channels of their subscriptions. */
  readonly channels: readonly number[];
  /** The people of each of their direct conversations. */
  readonly dialogues: readonly (readonly number[])[];
  /** Few messages of the organization are theirs, so that reading the places is cheaper than reading the log. */
  readonly isSparse: boolean;
  /** Their oldest unread message; absent if there was none. */
  readonly firstUnread?: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    places: FeedHint;
  }
}

const TTL_SECONDS = 90 * 24 * 3_600;

/** The hint is of no use if the narrow itself names the place. */
export const feedHintKeys = (terms: readonly UnresolvedTerm[], email: string): LookupKey[] =>
  terms.some(namesPlace) ? [] : [{ kind: 'places', email }];

const namesPlace = (term: UnresolvedTerm): boolean =>
  !term.negated &&
  (term.kind === 'id' || term.kind === 'dm' || term.kind === 'channel' || isState('starred', term));

/** Stores a hint if it differs from the stored one. A failure does not fail the fetch. */
export async function saveFeedHint(
  { table, cache, now, report }: Outside,
  { realm, email }: { readonly realm: string; readonly email: string },
  hint: FeedHint,
  stored: FeedHint | undefined,
): Promise<void> {
  const fieldsOf = ({ channels, dialogues, isSparse, firstUnread }: FeedHint) => [
    channels,
    dialogues,
    isSparse,
    firstUnread,
  ];
  if (stored !== undefined && isDeepStrictEqual(fieldsOf(stored), fieldsOf(hint))) return;
  const at = key('places', { realm, email: folded(email) });
  const item = { ...hint, expires: Math.floor(now() / 1_000) + TTL_SECONDS };
  try {
    await table.put(at, item);
    cache.keep(at, item);
  } catch (error) {
    report({ level: 'WARN', message: 'feed hint not saved', error: traceOf(error) });
  }
}
