/*
 * How `GET /messages` answers in two round trips to DynamoDB, or three in a cold container:
 *
 * 1. Beside the credentials (`openFetch`): choose the source of the narrow, which is the smallest set of places that
 *    holds all matching messages (source.ts). Read what decides about the reader's access there and, at the same
 *    time, message heads around the anchor (view.ts), at the places of the feed hint or in the log. A head is a
 *    message without its text.
 * 2. Once the caller is verified: find the messages of the window among the heads (search.ts), then read their texts and
 *    write them as the client wants them (serialize.ts, reply.ts).
 *
 * If the anchor is the first unread message, the oldest one that is cached is taken for it. Older ones are searched for
 * in parallel with the texts. If there is one, the second step is done again: a wrong guess costs time, never correctness.
 */

import { refusal } from '../../kernel/errors.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { numberAt } from '../../log/moment.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { hasContentAccess } from '../../model/channel/access.ts';
import { MAX_MESSAGES_AT_ONCE } from '../../model/message/load.ts';
import { mayRead } from '../../model/message/message.ts';
import type { RenderOptions } from '../../model/message/object.ts';
import { hiddenUsers } from '../../model/subscription/user-access.ts';
import type { Caller } from '../../model/user/caller.ts';
import { LARGEST_NUMBER } from '../../table/keys.ts';
import { Reader } from '../reader/reader.ts';
import { messageLookupKeys, resolvedMessage } from '../reader/target.ts';
import { type SearchClients, Searcher } from '../search/searcher.ts';
import { feedHintKeys } from './feed-hint.ts';
import {
  checkNarrow,
  checkTogether,
  isState,
  type NarrowParameter,
  namesConversation,
  type Term,
  type UnresolvedNarrow,
  withConversation,
} from './narrow.ts';
import { isAboutText } from './narrow-match.ts';
import { lookedUp, narrowLookupKeys, resolveNarrow, unknownChannel, unknownUser } from './narrow-names.ts';
import { isIndexed } from './searched.ts';
import { loadSource, type Source, searchSourceOf } from './source.ts';
import { View, type ViewOptions } from './view.ts';
import {
  type Around,
  aroundAnchor,
  type ByIds,
  checkWindow,
  END,
  isAnchored,
  type Window,
  type WindowParameters,
} from './window.ts';

/** The parsed parameters of a fetch. */
export interface FetchRequest extends UnresolvedNarrow {
  readonly window: Window | ByIds;
  readonly options: RenderOptions;
}

/** The parameters for the form of the messages (specification 4.1). */
interface RenderParameters {
  readonly apply_markdown?: boolean | undefined;
  readonly allow_empty_topic_name?: boolean | undefined;
  readonly client_gravatar?: boolean | undefined;
}

export const parseRenderOptions = (input: RenderParameters): RenderOptions => ({
  applyMarkdown: input.apply_markdown ?? true,
  emptyTopicName: input.allow_empty_topic_name ?? false,
  clientGravatar: input.client_gravatar ?? true,
});

/** Parses the parameters of a fetch. Throws `BAD_NARROW` or `BAD_REQUEST`. */
export const parseFetch = (
  input: WindowParameters & RenderParameters & { readonly narrow?: NarrowParameter | null | undefined },
): FetchRequest => ({
  ...checkNarrow(input.narrow ?? []),
  window: checkWindow(input),
  options: parseRenderOptions(input),
});

/** The names and the message in the narrow, and the feed hint. */
export const fetchLookupKeys = (
  { terms, with: message, window }: UnresolvedNarrow & Pick<FetchRequest, 'window'>,
  email: string,
): LookupKey[] => [
  ...narrowLookupKeys(terms),
  ...(message === undefined ? [] : messageLookupKeys(message)),
  ...('ids' in window ? [] : feedHintKeys(terms, email)),
];

/** What was read for a fetch so far. */
export interface Fetch {
  readonly email: string;
  readonly reader: Reader;
  readonly terms: readonly Term[];
  /** The message of `with`, whose conversation is among the terms; undefined if there is none. */
  readonly message: MessageSlot | undefined;
  /** The first log number at the time of the anchor, if that is a time. */
  readonly since: number | undefined;
  readonly viewOptions: ViewOptions;
  /** The view of where the window is expected, then one of where else it may be. */
  readonly views: readonly [View, View?];
}

/** Heads that are read beyond the window, because messages that were unread at the last fetch may be read now. */
export const EXTRA = 50;

/** What opening a fetch needs of its request. */
interface OpeningRequest {
  readonly outside: Pick<Outside, 'table' | 'now' | 'cache' | 'report' | 'wait'>;
  /** What it takes to search in the index. Without it, searches read the texts of all messages. */
  readonly clients?: Partial<SearchClients>;
  readonly realm: string;
  readonly userId: number;
  readonly email: string;
  readonly resolved: Resolved;
}

/**
 * Reads all but the texts of the messages, usually in one round trip. Throws `BAD_NARROW` for unknown names. It takes for
 * granted that the caller may read the message of `with`; `accessWith` decides it.
 *
 * @param withReadStates reads what the caller has read too, even if neither narrow nor anchor asks for it
 */
export async function openFetch(
  request: OpeningRequest,
  narrow: UnresolvedNarrow,
  window: Window | ByIds,
  withReadStates = false,
): Promise<Fetch> {
  const { userId, email, resolved, clients = {} } = request;
  const reader = new Reader(request.outside, request.realm, userId);
  const message = narrow.with === undefined ? undefined : resolvedMessage(resolved, narrow.with);
  const unresolved = message ? withConversation(narrow.terms, message) : narrow.terms;
  const terms = resolveNarrow(unresolved, lookedUp(resolved), userId);
  const searcher =
    'objects' in clients ? new Searcher(request.outside, request.realm, clients as SearchClients) : undefined;
  const source: Source =
    'ids' in window
      ? { kind: 'listed', ids: window.ids.slice(0, MAX_MESSAGES_AT_ONCE) }
      : searchSourceOf(terms, searcher);
  const aboutUnread = terms.filter((term) => isState('unread', term));
  const isAtUnread = !('ids' in window) && window.anchor === 'first_unread';
  const since = 'ids' in window ? undefined : await loadSince(request, reader, window);
  const loading = loadSource(reader, source, withReadStates || aboutUnread.length > 0 || isAtUnread);
  const hint = resolved.follow({ kind: 'places', email });
  const options: ViewOptions = {
    reader,
    source,
    hint,
    isFiltered: terms.some((term) => !isImplied(term, source)),
    isUnreadOnly: aboutUnread.some(({ negated }) => !negated),
    readsTexts: terms.some(isAboutText),
  };
  const [around, other] = aroundsOf(window, since, terms.length === 0 ? hint?.firstUnread : undefined);
  const view = new View(options);
  const otherView = other && new View(options);
  await Promise.all([
    reader.self(),
    loading,
    source.kind === 'searched' && searcher?.load(),
    isAtUnread && reader.topicPolicies(),
    view.open(around),
    other && otherView?.open(other),
    ...terms.map((term) => loadTerm(reader, term, source)),
  ]);
  return {
    email,
    reader,
    terms,
    message,
    since,
    viewOptions: options,
    views: otherView ? [view, otherView] : [view],
  };
}

/** Whether a condition holds for all messages of a source. */
function isImplied(term: Term, source: Source): boolean {
  if (term.negated) return false;
  switch (source.kind) {
    case 'place':
      return term.kind === 'channel' || term.kind === 'topic' || term.kind === 'dm';
    case 'direct':
      return term.kind === 'dmIncluding' || isState('dm', term);
    case 'public':
      return term.kind === 'channels' && term.channels === 'public';
    case 'topic':
      return term.kind === 'topic';
    case 'starred':
      return isState('starred', term);
    case 'searched':
      return term.kind === 'search' || isIndexed(term) || isImplied(term, source.within);
    default:
      return false;
  }
}

/** The first number at the time of an anchor. A few round trips. */
async function loadSince(
  { outside, realm }: OpeningRequest,
  reader: Reader,
  { anchor }: Window,
): Promise<number | undefined> {
  if (typeof anchor !== 'object') return undefined;
  // The caller is read in this moment, not after these round trips.
  const [since] = await Promise.all([numberAt(outside.table, realm, anchor.time), reader.self()]);
  return since;
}

/** Where to read heads. Where the first unread message is can only be guessed: where it was, or near the end. */
function aroundsOf(
  window: Window | ByIds,
  since: number | undefined,
  lastFirstUnread: number | undefined,
): [Around, Around?] {
  if ('ids' in window) return [{ pivot: 0, older: 0, newer: MAX_MESSAGES_AT_ONCE }];
  if (isAnchored(window)) return [aroundAnchor(window)];
  const { before, after } = window;
  if (since !== undefined) return [{ pivot: since, older: before, newer: after + 1 }];
  const newest = { pivot: END, older: before + after + EXTRA, newer: 0 };
  if (lastFirstUnread === undefined) return [{ ...newest, isFiltered: true }];
  return [{ pivot: lastFirstUnread, older: before, newer: after + 1 + EXTRA }, newest];
}

/** Reads the channel or users that a condition names, or what it is tested by. */
async function loadTerm(reader: Reader, term: Term, source: Source): Promise<unknown> {
  if (term.kind === 'channel') return reader.channel(term.channel);
  if (isState('followed', term)) return reader.topicPolicies();
  if (isState('muted', term) || term.kind === 'home')
    return Promise.all([reader.topicPolicies(), reader.subscriptions()]);
  if (term.kind === 'channels') return reader.channels();
  if (isState('starred', term) && !isImplied(term, source)) return reader.stars(1, LARGEST_NUMBER);
  return Promise.all(peopleIn(term).map((id) => reader.user(id)));
}

const peopleIn = (term: Term): readonly number[] =>
  'people' in term ? term.people : 'user' in term ? [term.user] : [];

/**
 * The fetch, once it is known whether the caller may read the message of `with`. Without it, the other conditions must name
 * a conversation, and then the fetch is opened again. Refuses with `BAD_NARROW` (companion facts 1.14).
 */
export async function accessWith(
  { input, caller }: { readonly input: UnresolvedNarrow; readonly caller: Caller },
  fetch: Fetch,
  reopen: (narrow: UnresolvedNarrow) => Promise<Fetch>,
): Promise<Fetch> {
  const { message, reader, terms } = fetch;
  if (input.with === undefined) return fetch;
  if (message && (await mayRead(reader, caller.standing, message))) {
    checkTogether(terms);
    return fetch;
  }
  if (!namesConversation(input.terms)) throw unknownMessage();
  checkTogether(input.terms);
  return message ? reopen({ terms: input.terms }) : fetch;
}

const unknownMessage = () => refusal('badNarrow', { desc: "there is no such message to be 'with'" });

/** Refuses a narrow with a channel or user that the caller may not see, with the same error as for one that does not exist. */
export async function checkTerms(outside: Outside, caller: Caller, { reader, terms }: Fetch): Promise<void> {
  for (const term of terms) {
    if (term.kind !== 'channel') continue;
    const access = await reader.channel(term.channel);
    if (access === undefined || !hasContentAccess(caller.standing, access)) throw unknownChannel();
  }
  const users = await Promise.all(terms.flatMap(peopleIn).map((id) => reader.user(id)));
  const existing = users.filter((user) => user !== undefined);
  if (existing.length < users.length) throw unknownUser();
  if ((await hiddenUsers(outside, caller, existing)).size > 0) throw unknownUser();
}
