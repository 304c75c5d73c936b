import type { MessageHead } from '../../log/message.ts';
import type { Caller } from '../caller.ts';
import { hasContentAccess } from '../channel/channel-access.ts';
import { cameTo, mayRead } from '../message/message-access.ts';
import { type Side, Strip } from '../message/message-strip.ts';
import type { Outside } from '../outside.ts';
import type { Standing } from '../permission.ts';
import type { Known } from '../pointer.ts';
import { hiddenUsers } from '../user/user-access.ts';
import { type Gathered, gather, type Search } from './message-gather.ts';
import { unreadOf } from './message-lanes.ts';
import { AT_ONCE, inLog } from './message-reach.ts';
import { Lanes, loadSource, type Source, sourceOf } from './message-source.ts';
import {
  type ByIds,
  type Found,
  foundIn,
  type Placed,
  placedAt,
  type Wanted,
  type Window,
  wantedFor,
} from './message-window.ts';
import { type AskedTerm, resolveNarrow, type Term, unknownChannel, unknownUser } from './narrow.ts';
import { matchFor } from './narrow-match.ts';
import { Reader } from './reader.ts';

/** A fetch under way: what it is about, and what was read for it so far. */
export interface Fetch {
  readonly reader: Reader;
  readonly terms: readonly Term[];
  readonly source: Source;
  readonly lanes: Lanes;
  /** The log itself, for fetches of all that came to the reader. */
  readonly log: Strip;
}

/** Slots of the log that are looked through before the places that the reader has to do with are read one by one. */
const LOG_PAGE = { least: 100, most: 1_000 } as const;

/**
 * Begins a fetch: everything that can be read before the caller is known, in one round trip. In the usual case that
 * is all but the texts of the messages.
 */
export async function beginFetch(
  { table }: Pick<Outside, 'table'>,
  realm: string,
  userId: number,
  known: Known,
  asked: readonly AskedTerm[],
  window: Window | ByIds,
): Promise<Fetch> {
  const reader = new Reader(table, realm, userId);
  const terms = resolveNarrow(asked, known, userId);
  const source: Source =
    'ids' in window ? { kind: 'listed', ids: window.ids.slice(0, AT_ONCE) } : sourceOf(terms);
  const fetch = { reader, terms, source, lanes: new Lanes(reader, source), log: new Strip(inLog(reader)) };
  await Promise.all([
    loadSource(reader, source, isUnreadOnly(terms) || isAtUnread(window)),
    ...terms.map((term) => loadTerm(reader, term)),
    'ids' in window ? readListed(fetch) : isPlaced(window) && readAround(fetch, wantedFor(window)),
  ]);
  return fetch;
}

/** Reads the messages that are asked for by their ids, with what tells whether they came to the reader. */
const readListed = ({ reader, lanes }: Fetch): Promise<unknown> =>
  Promise.all([reader.subscriptions(), lanes.readAround(0, 0, AT_ONCE)]);

const isPlaced = (window: Window): window is Placed => window.anchor !== 'first_unread';
const isAtUnread = (window: Window | ByIds): boolean => !('ids' in window) && !isPlaced(window);

const isUnreadOnly = (terms: readonly Term[]): boolean =>
  terms.some((term) => term.kind === 'is' && term.state === 'unread' && !term.negated);

/** What a condition is about, and must exist. */
async function loadTerm(reader: Reader, term: Term): Promise<unknown> {
  if (term.kind === 'channel') return reader.seen(term.channel);
  return Promise.all(peopleIn(term).map((id) => reader.user(id)));
}

const peopleIn = (term: Term): readonly number[] =>
  'people' in term ? term.people : 'user' in term ? [term.user] : [];

async function readAround({ source, lanes, log }: Fetch, { pivot, older, newer }: Wanted): Promise<void> {
  if (source.kind !== 'received') return lanes.readAround(pivot, older, newer);
  const page = (need: number): number => Math.min(LOG_PAGE.most, Math.max(LOG_PAGE.least, 2 * need));
  log.moveTo(pivot);
  await Promise.all([
    older > 0 && log.extend('older', page(older)),
    newer > 0 && log.extend('newer', page(newer)),
  ]);
}

/**
 * Refuses a narrow that names what the caller may not know of. What does not exist is refused in the same words.
 */
export async function checkTerms(outside: Outside, caller: Caller, { reader, terms }: Fetch): Promise<void> {
  for (const term of terms) {
    if (term.kind !== 'channel') continue;
    const seen = await reader.seen(term.channel);
    if (seen === undefined || !hasContentAccess(caller.standing, seen)) throw unknownChannel();
  }
  const users = await Promise.all(terms.flatMap(peopleIn).map((id) => reader.user(id)));
  const known = users.filter((user) => user !== undefined);
  if (known.length < users.length) throw unknownUser();
  if ((await hiddenUsers(outside, caller, known)).size > 0) throw unknownUser();
}

/** Finds the messages of a window. */
export async function findWindow(
  fetch: Fetch,
  standing: Standing,
  window: Window,
): Promise<Found & { readonly anchor: number }> {
  const keep = keepFor(fetch, standing);
  const placed = placedAt(window, isPlaced(window) ? undefined : await firstUnread(fetch, keep, window));
  const { pivot, older, newer } = wantedFor(placed);
  const find = (side: Side, need: number): Promise<Gathered> =>
    findSide(fetch, isPlaced(window), { side, from: pivot, need, keep });
  const [before, after] = await Promise.all([find('older', older), find('newer', newer)]);
  return { ...foundIn(placed, before, after), anchor: placed.anchor };
}

/** Which of these messages are in the narrow, and for the caller to read. */
function keepFor({ reader, terms, source }: Fetch, standing: Standing): Search['keep'] {
  const match = matchFor(
    reader,
    standing,
    terms.filter((term) => !isGiven(term, source)),
  );
  const mayAnswer = NAMED.has(source.kind) ? mayReadAs(standing) : cameTo;
  return async (heads) => {
    const matching = await match(heads);
    const readable = await Promise.all(
      heads.map(async (head) => matching.has(head.id) && (await mayAnswer(reader, head))),
    );
    return new Set(heads.filter((_, i) => readable[i]).map(({ id }) => id));
  };
}

/** Whether a condition holds for all that its source gives, so that nothing needs to be read to test it. */
const isGiven = (term: Term, source: Source): boolean =>
  source.kind === 'starred' && term.kind === 'is' && term.state === 'starred' && !term.negated;

/** Sources that are named one by one. Elsewhere only what came to the reader is meant, not all they could read. */
const NAMED: ReadonlySet<Source['kind']> = new Set(['place', 'listed', 'starred']);

const mayReadAs =
  (standing: Standing) =>
  (reader: Reader, head: MessageHead): Promise<boolean> =>
    mayRead(reader, standing, head);

/** Messages that are read beyond those needed, since not every message above a floor is unread. */
const SLACK = 50;

/** The oldest unread message of a narrow. */
async function firstUnread(
  { reader, lanes }: Fetch,
  keep: Search['keep'],
  { before, after }: Window,
): Promise<MessageHead | undefined> {
  const unread = await lanes.unread();
  const [place] = unread.filter((lane) => 'place' in lane);
  if (place && unread.length === 2) await lanes.readAround(place.above + 1, before, after + SLACK);
  const isUnread = unreadOf(reader);
  const { heads } = await gather({
    lanes: unread,
    side: 'newer',
    from: 0,
    need: 1,
    keep: async (heads) => {
      const [kept, open] = await Promise.all([keep(heads), isUnread(heads)]);
      return new Set([...kept].filter((id) => open.has(id)));
    },
    mayRead: true,
  });
  return heads[0];
}

/**
 * Finds one side of a window. Of all that came to the reader, the newest is usually in the part of the log that was
 * read already; where it is not enough, the places are read one by one.
 */
async function findSide(
  { log, source, terms, lanes }: Fetch,
  isLogRead: boolean,
  search: Omit<Search, 'lanes' | 'mayRead'>,
): Promise<Gathered> {
  if (search.need === 0) return { heads: [], complete: true };
  if (source.kind === 'received' && isLogRead) {
    const found = await gather({ ...search, lanes: [{ strip: log, above: 0 }], mayRead: false });
    if (found.complete) return found;
  }
  return gather({
    ...search,
    lanes: await (isUnreadOnly(terms) ? lanes.unread() : lanes.all()),
    mayRead: true,
  });
}
