import { isDeepStrictEqual } from 'node:util';
import { folded } from '../../kernel/folding.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { key } from '../../table/keys.ts';
import type { Fetch } from './fetch.ts';
import { isPersonal } from './message-source.ts';
import { type AskedTerm, isAbout } from './narrow.ts';

/**
 * Where the messages of somebody were to be found when they last fetched some (DESIGN 7: what is remembered is a hint).
 * It stands beside the account, so that it is known as soon as the account is; what it says is read together with
 * the truth, and only saves the round trip in between.
 */
export interface Places {
  /** The channels of their subscriptions. */
  readonly channels: readonly number[];
  /** The people of each of their direct conversations. */
  readonly dialogues: readonly (readonly number[])[];
  /** Their messages are few among all of the organization, so that the places themselves are read, not the log. */
  readonly isSparse: boolean;
  /** Their oldest unread message; absent where there was none. */
  readonly firstUnread?: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    places: Places;
  }
}

/** More places than this are not remembered: then the round trip is not what takes time. */
const MOST_PLACES = 1_000;

/** Seconds after which a hint goes that was right all the time. */
const KEPT = 90 * 24 * 3_600;

/** The hint is of use where a narrow does not say by itself where to look. */
export const placesLookupKeys = (terms: readonly AskedTerm[], email: string): LookupKey[] =>
  terms.some(saysWhere) ? [] : [{ kind: 'places', email }];

const saysWhere = (term: AskedTerm): boolean =>
  !term.negated &&
  (term.kind === 'id' || term.kind === 'dm' || term.kind === 'channel' || isAbout('starred', term));

/** The hint, if it was looked up and there is one. */
export const placesIn = (resolved: Resolved, email: string): Places | undefined =>
  resolved.follow({ kind: 'places', email });

/**
 * Remembers the places that a fetch looked at for the next one, if they are not what was remembered. `firstUnread` is
 * the oldest unread message, if the fetch looked for that. A failure is no fault of the fetch.
 */
export async function rememberPlaces(
  { table, memory, now, report }: Outside,
  fetch: Fetch,
  firstUnread: { readonly id: number | undefined } | undefined,
): Promise<void> {
  const { reader, email, source, ground } = fetch;
  if (!isPersonal(source)) return;
  const places = await placesOf(fetch, firstUnread);
  if (ground.remembered !== undefined && isSame(ground.remembered, places)) return;
  const at = key('places', { realm: reader.realm, email: folded(email) });
  const item = { ...places, expires: Math.floor(now() / 1_000) + KEPT };
  try {
    await table.put(at, item);
    memory.keep(at, item);
  } catch (error) {
    report({ level: 'WARN', places: error instanceof Error ? error.message : String(error) });
  }
}

async function placesOf(
  { reader, ground, views }: Fetch,
  firstUnread: { readonly id: number | undefined } | undefined,
): Promise<Places> {
  const [subscriptions, dialogues] = await Promise.all([reader.subscriptions(), reader.dialogues()]);
  const isTooLong = subscriptions.size + dialogues.length > MOST_PLACES;
  const { id } = firstUnread ?? { id: ground.remembered?.firstUnread };
  return {
    channels: isTooLong ? [] : [...subscriptions.keys()],
    dialogues: isTooLong ? [] : dialogues.map(({ people }) => people),
    isSparse: ground.remembered?.isSparse === true || views.some(({ isSparse }) => isSparse),
    ...(id !== undefined && { firstUnread: id }),
  };
}

const isSame = (a: Places, b: Places): boolean =>
  isDeepStrictEqual(
    [a.channels, a.dialogues, a.isSparse, a.firstUnread],
    [b.channels, b.dialogues, b.isSparse, b.firstUnread],
  );
