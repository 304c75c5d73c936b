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

import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { hasContentAccess } from '../../model/channel/access.ts';
import { MAX_MESSAGES_AT_ONCE } from '../../model/message/load.ts';
import type { RenderOptions } from '../../model/message/object.ts';
import { hiddenUsers } from '../../model/subscription/user-access.ts';
import type { Caller } from '../../model/user/caller.ts';
import { LARGEST_NUMBER } from '../../table/keys.ts';
import { Reader } from '../reader/reader.ts';
import { feedHintKeys } from './feed-hint.ts';
import {
  checkNarrow,
  isState,
  type NarrowParameter,
  narrowLookupKeys,
  resolveNarrow,
  type Term,
  type UnresolvedTerm,
  unknownChannel,
  unknownUser,
} from './narrow.ts';
import { loadSource, type Source, sourceOf } from './source.ts';
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
export interface FetchRequest {
  readonly terms: readonly UnresolvedTerm[];
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
  terms: checkNarrow(input.narrow ?? []),
  window: checkWindow(input),
  options: parseRenderOptions(input),
});

/** The names in the narrow, and the feed hint. */
export const fetchLookupKeys = (
  { terms, window }: Pick<FetchRequest, 'terms' | 'window'>,
  email: string,
): LookupKey[] => [...narrowLookupKeys(terms), ...('ids' in window ? [] : feedHintKeys(terms, email))];

/** What was read for a fetch so far. */
export interface Fetch {
  readonly email: string;
  readonly reader: Reader;
  readonly terms: readonly Term[];
  readonly viewOptions: ViewOptions;
  /** The view of where the window is expected, then one of where else it may be. */
  readonly views: readonly [View, View?];
}

/** Heads that are read beyond the window, because messages that were unread at the last fetch may be read now. */
export const EXTRA = 50;

/**
 * Reads all but the texts of the messages, usually in one round trip. Throws `BAD_NARROW` for unknown names.
 *
 * @param withReadStates reads what the caller has read too, even if neither narrow nor anchor asks for it
 */
export async function openFetch(
  request: {
    readonly outside: Pick<Outside, 'table' | 'now' | 'cache'>;
    readonly realm: string;
    readonly userId: number;
    readonly email: string;
    readonly resolved: Resolved;
  },
  unresolved: readonly UnresolvedTerm[],
  window: Window | ByIds,
  withReadStates = false,
): Promise<Fetch> {
  const { userId, email, resolved } = request;
  const reader = new Reader(request.outside, request.realm, userId);
  const terms = resolveNarrow(unresolved, resolved, userId);
  const source: Source =
    'ids' in window ? { kind: 'listed', ids: window.ids.slice(0, MAX_MESSAGES_AT_ONCE) } : sourceOf(terms);
  const aboutUnread = terms.filter((term) => isState('unread', term));
  const isAtUnread = !('ids' in window) && !isAnchored(window);
  const loading = loadSource(reader, source, withReadStates || aboutUnread.length > 0 || isAtUnread);
  const hint = resolved.follow({ kind: 'places', email });
  const options: ViewOptions = {
    reader,
    source,
    hint,
    isFiltered: terms.some((term) => !isImplied(term, source)),
    isUnreadOnly: aboutUnread.some(({ negated }) => !negated),
  };
  const [around, other] = aroundsOf(window, terms.length === 0 ? hint?.firstUnread : undefined);
  const view = new View(options);
  const otherView = other && new View(options);
  await Promise.all([
    loading,
    view.open(around),
    other && otherView?.open(other),
    ...terms.map((term) => loadTerm(reader, term, source)),
  ]);
  return { email, reader, terms, viewOptions: options, views: otherView ? [view, otherView] : [view] };
}

/** Whether a condition holds for all messages of a source. */
function isImplied(term: Term, source: Source): boolean {
  if (term.negated) return false;
  switch (source.kind) {
    case 'place':
      return term.kind === 'channel' || term.kind === 'topic' || term.kind === 'dm';
    case 'direct':
      return term.kind === 'dmIncluding' || isState('dm', term);
    case 'topic':
      return term.kind === 'topic';
    case 'starred':
      return isState('starred', term);
    default:
      return false;
  }
}

/** Where to read heads. Where the first unread message is can only be guessed: where it was, or near the end. */
function aroundsOf(window: Window | ByIds, lastFirstUnread: number | undefined): [Around, Around?] {
  if ('ids' in window) return [{ pivot: 0, older: 0, newer: MAX_MESSAGES_AT_ONCE }];
  if (isAnchored(window)) return [aroundAnchor(window)];
  const { before, after } = window;
  const newest = { pivot: END, older: before + after + EXTRA, newer: 0 };
  if (lastFirstUnread === undefined) return [{ ...newest, isFiltered: true }];
  return [{ pivot: lastFirstUnread, older: before, newer: after + 1 + EXTRA }, newest];
}

/** Reads the channel or users that a condition names, or what it is tested by. */
async function loadTerm(reader: Reader, term: Term, source: Source): Promise<unknown> {
  if (term.kind === 'channel') return reader.channel(term.channel);
  if (isState('followed', term)) return reader.topicPolicies();
  if (isState('starred', term) && !isImplied(term, source)) return reader.stars(1, LARGEST_NUMBER);
  return Promise.all(peopleIn(term).map((id) => reader.user(id)));
}

const peopleIn = (term: Term): readonly number[] =>
  'people' in term ? term.people : 'user' in term ? [term.user] : [];

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
