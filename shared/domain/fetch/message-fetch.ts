import type { Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { hasContentAccess } from '../../model/channel/access.ts';
import { MAX_MESSAGES_AT_ONCE } from '../../model/message/load.ts';
import { hiddenUsers } from '../../model/subscription/user-access.ts';
import type { Caller } from '../../model/user/caller.ts';
import { LARGEST_NUMBER } from '../../table/keys.ts';
import { Reader } from '../reader/reader.ts';
import { OptimisticFacts } from '../reader/supposed.ts';
import type { Fetch } from './fetch.ts';
import { loadSource, type Source, sourceOf } from './message-source.ts';
import { END, SLACK, type Snapshot, View } from './message-view.ts';
import { type ByIds, isPlaced, type Window, wantedFor } from './message-window.ts';
import { type AskedTerm, isAbout, resolveNarrow, type Term, unknownChannel, unknownUser } from './narrow.ts';
import { placesIn } from './places.ts';

/** For whom a fetch begins, and what is known of them before anything else is read. */
interface Beginning {
  readonly outside: Pick<Outside, 'table' | 'now' | 'cache'>;
  readonly realm: string;
  readonly userId: number;
  readonly email: string;
  readonly resolved: Resolved;
}

/**
 * Begins a fetch: everything that can be read before the caller is known. In the usual case that is, in one round
 * trip, all but the texts of the messages.
 */
export async function beginFetch(
  { outside, realm, userId, email, resolved }: Beginning,
  asked: readonly AskedTerm[],
  window: Window | ByIds,
): Promise<Fetch> {
  const reader = new Reader(outside, realm, userId);
  const terms = resolveNarrow(asked, resolved, userId);
  const source: Source =
    'ids' in window ? { kind: 'listed', ids: window.ids.slice(0, MAX_MESSAGES_AT_ONCE) } : sourceOf(terms);
  const aboutUnread = terms.filter((term) => isAbout('unread', term));
  const loading = loadSource(reader, source, aboutUnread.length > 0 || isAtUnread(window));
  const snapshot: Snapshot = {
    reader,
    source,
    remembered: placesIn(resolved, email),
    isFiltered: terms.some((term) => !isGiven(term, source)),
    isUnreadOnly: aboutUnread.some(({ negated }) => !negated),
    recent: () => reader.recent(),
  };
  const { views, open } = viewsOf(snapshot, window, terms);
  await Promise.all([loading, open(), ...terms.map((term) => loadTerm(reader, term, source))]);
  return { email, reader, facts: new OptimisticFacts(reader), terms, source, snapshot, views };
}

const isAtUnread = (window: Window | ByIds): boolean => !('ids' in window) && !isPlaced(window);

/** Whether a condition holds for all messages of a source. */
function isGiven(term: Term, source: Source): boolean {
  if (term.negated) return false;
  switch (source.kind) {
    case 'place':
      return term.kind === 'channel' || term.kind === 'topic' || term.kind === 'dm';
    case 'direct':
      return term.kind === 'dmIncluding' || isAbout('dm', term);
    case 'topic':
      return term.kind === 'topic';
    case 'starred':
      return isAbout('starred', term);
    default:
      return false;
  }
}

/** The views of a window, and how they are opened. Where the first unread message is can only be expected. */
function viewsOf(
  snapshot: Snapshot,
  window: Window | ByIds,
  terms: readonly Term[],
): { readonly views: Fetch['views']; readonly open: () => Promise<unknown> } {
  const view = new View(snapshot);
  if ('ids' in window) {
    return { views: [view], open: () => view.open({ pivot: 0, older: 0, newer: MAX_MESSAGES_AT_ONCE }) };
  }
  if (isPlaced(window)) return { views: [view], open: () => view.open(wantedFor(window)) };
  const { before, after } = window;
  const around = before + after + SLACK;
  const expected = terms.length === 0 ? snapshot.remembered?.firstUnread : undefined;
  const newest = { pivot: END, older: around, newer: 0 };
  if (expected === undefined) return { views: [view], open: () => view.open(newest, true) };
  const second = new View(snapshot);
  const near = { pivot: expected, older: before, newer: after + 1 + SLACK };
  return {
    views: [view, second],
    open: () => Promise.all([view.open(near), second.open(newest)]),
  };
}

/** What a condition is about, and must exist, and what it is tested by. */
async function loadTerm(reader: Reader, term: Term, source: Source): Promise<unknown> {
  if (term.kind === 'channel') return reader.seen(term.channel);
  if (isAbout('followed', term)) return reader.topicPolicies();
  if (isAbout('starred', term) && !isGiven(term, source)) return reader.stars(1, LARGEST_NUMBER);
  return Promise.all(peopleIn(term).map((id) => reader.user(id)));
}

const peopleIn = (term: Term): readonly number[] =>
  'people' in term ? term.people : 'user' in term ? [term.user] : [];

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
