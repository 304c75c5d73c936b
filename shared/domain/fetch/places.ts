import { isDeepStrictEqual } from 'node:util';
import { traceOf } from '../../kernel/errors.ts';
import { folded } from '../../kernel/folding.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { key } from '../../table/keys.ts';
import type { FeedHint } from './feed-hint.ts';
import type { Fetch } from './fetch.ts';
import { isPersonal } from './message-source.ts';
import { type AskedTerm, isAbout } from './narrow.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    places: FeedHint;
  }
}

/** More places than this are not remembered: then the round trip is not what takes time. */
const MAX_PLACES = 1_000;

/** Seconds after which a hint goes that was right all the time. */
const KEPT = 90 * 24 * 3_600;

/** The hint is of use where a narrow does not say by itself where to look. */
export const placesLookupKeys = (terms: readonly AskedTerm[], email: string): LookupKey[] =>
  terms.some(saysWhere) ? [] : [{ kind: 'places', email }];

const saysWhere = (term: AskedTerm): boolean =>
  !term.negated &&
  (term.kind === 'id' || term.kind === 'dm' || term.kind === 'channel' || isAbout('starred', term));

/** The hint, if it was looked up and there is one. */
export const placesIn = (resolved: Resolved, email: string): FeedHint | undefined =>
  resolved.follow({ kind: 'places', email });

/**
 * Remembers the places that a fetch looked at for the next one, if they are not what was remembered. `firstUnread` is
 * the oldest unread message, if the fetch looked for that. A failure is no fault of the fetch.
 */
export async function rememberPlaces(
  { table, cache, now, report }: Outside,
  fetch: Fetch,
  firstUnread: { readonly id: number | undefined } | undefined,
): Promise<void> {
  const { reader, email, source, snapshot } = fetch;
  if (!isPersonal(source)) return;
  const places = await placesOf(fetch, firstUnread);
  if (snapshot.remembered !== undefined && isSame(snapshot.remembered, places)) return;
  const at = key('places', { realm: reader.realm, email: folded(email) });
  const item = { ...places, expires: Math.floor(now() / 1_000) + KEPT };
  try {
    await table.put(at, item);
    cache.keep(at, item);
  } catch (error) {
    report({ level: 'WARN', message: 'feed hint not saved', error: traceOf(error) });
  }
}

async function placesOf(
  { reader, snapshot, views }: Fetch,
  firstUnread: { readonly id: number | undefined } | undefined,
): Promise<FeedHint> {
  const [subscriptions, dialogues] = await Promise.all([reader.subscriptions(), reader.dialogues()]);
  const isTooLong = subscriptions.size + dialogues.length > MAX_PLACES;
  const { id } = firstUnread ?? { id: snapshot.remembered?.firstUnread };
  return {
    channels: isTooLong ? [] : [...subscriptions.keys()],
    dialogues: isTooLong ? [] : dialogues.map(({ people }) => people),
    isSparse: snapshot.remembered?.isSparse === true || views.some(({ isSparse }) => isSparse),
    ...(id !== undefined && { firstUnread: id }),
  };
}

const isSame = (a: FeedHint, b: FeedHint): boolean =>
  isDeepStrictEqual(
    [a.channels, a.dialogues, a.isSparse, a.firstUnread],
    [b.channels, b.dialogues, b.isSparse, b.firstUnread],
  );
