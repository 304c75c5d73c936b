import { codePoints } from '../../kernel/text.ts';
import type { MessageHead } from '../../log/message.ts';
import type { Subscription } from '../../model/channel/channel.ts';
import { type MessageScope, RangeCache, type RangeReader } from '../../model/message/load.ts';
import { directConversation, topicConversation } from '../../model/message/message.ts';
import type { ReadState } from '../../model/message/read-state.ts';
import { roles } from '../../model/permission/permission.ts';
import { limits } from '../../model/realm/realm.ts';
import { firstRead } from '../reader/merge-streams.ts';
import type { Reader } from '../reader/reader.ts';
import {
  aboveReadFloor,
  listedStream,
  listedWithContext,
  type MessageStream,
  type PlaceStream,
  placeCache,
  starredBy,
} from '../reader/streams.ts';
import type { SearchIndex } from '../search/candidates.ts';
import { askedWords, parseQuery } from '../search/query.ts';
import type { FeedHint } from './feed-hint.ts';
import { searchIn, type Term } from './narrow.ts';
import { type IndexSearch, searched } from './searched.ts';
import type { Around } from './window.ts';

/** Where to search for the messages of a narrow: the smallest set of places that holds all of them. */
export type Source =
  | { readonly kind: 'place'; readonly place: MessageScope }
  /** Messages with these ids. */
  | { readonly kind: 'listed'; readonly ids: readonly number[] }
  | { readonly kind: 'starred' }
  /** The reader's direct conversations that include all of these people. */
  | { readonly kind: 'direct'; readonly people: readonly number[] }
  /** A topic of this name in every channel that the reader is subscribed to. */
  | { readonly kind: 'topic'; readonly topic: string }
  /** All channel messages since the reader subscribed. */
  | { readonly kind: 'channels' }
  /** All messages of the public channels; for guests those that they are subscribed to. */
  | { readonly kind: 'public' }
  /** All channel messages since the reader subscribed, and all their direct messages. */
  | { readonly kind: 'received' }
  /** The messages of another source that the index finds. */
  | { readonly kind: 'searched'; readonly within: Source; readonly search: IndexSearch };

/** The source of a narrow, or what the index finds in it, where the narrow has words to search for. */
export function searchSourceOf(terms: readonly Term[], index: SearchIndex | undefined): Source {
  const within = sourceOf(terms);
  const text = searchIn(terms);
  // These are few, or none.
  if (text === undefined || index === undefined || within.kind === 'listed' || within.kind === 'starred')
    return within;
  const words = askedWords(parseQuery(text));
  return words.length === 0 ? within : { kind: 'searched', within, search: { index, words, terms } };
}

/** Chooses the smallest source for a narrow. A negated condition cannot name a place. */
export function sourceOf(terms: readonly Term[]): Source {
  const positive = terms.filter(({ negated }) => !negated);
  const find = <K extends Term['kind']>(kind: K) =>
    positive.find((term): term is Extract<Term, { kind: K }> => term.kind === kind);
  const hasState = (state: string): boolean =>
    positive.some((term) => term.kind === 'is' && term.state === state);
  const [id, dm, channel, topic] = [find('id'), find('dm'), find('channel'), find('topic')];
  if (id) return { kind: 'listed', ids: [id.id] };
  if (dm?.people.length === 0 || (topic && codePoints(topic.topic) > limits.topic))
    return { kind: 'listed', ids: [] };
  if (hasState('starred')) return { kind: 'starred' };
  if (dm) return place({ conversation: directConversation(dm.people), people: dm.people });
  if (channel && topic) {
    const conversation = topicConversation(channel.channel, topic.topic);
    return place({ conversation, channelId: channel.channel });
  }
  if (channel) return place({ channelId: channel.channel });
  const sets = positive.flatMap((term) => (term.kind === 'channels' ? [term.channels] : []));
  if (sets.includes('public')) return { kind: 'public' };
  if (topic) return { kind: 'topic', topic: topic.topic };
  const including = find('dmIncluding') ?? find('groupDmIncluding');
  if (including) return { kind: 'direct', people: including.people };
  if (hasState('dm')) return { kind: 'direct', people: [] };
  const isOfChannels = sets.length > 0 || hasState('followed') || hasState('muted') || hasState('resolved');
  return { kind: isOfChannels ? 'channels' : 'received' };
}

const place = (place: MessageScope): Source => ({ kind: 'place', place });

/** Whether the places follow from the reader's subscriptions and direct conversations, so that a hint can name them. */
export const isPersonal = ({ kind }: Source): boolean =>
  kind === 'direct' || kind === 'topic' || kind === 'channels' || kind === 'received';

/** Reads what the streams of a source depend on, and the read states if `forUnread`. One round trip. */
export async function loadSource(reader: Reader, source: Source, forUnread: boolean): Promise<void> {
  if (source.kind === 'searched') return loadSource(reader, source.within, forUnread);
  const channelId = source.kind === 'place' ? source.place.channelId : undefined;
  await Promise.all([
    channelId !== undefined && reader.channel(channelId),
    isPersonal(source) ? reader.loadOwnPlaces() : source.kind !== 'place' && reader.subscriptions(),
    source.kind === 'public' && publicChannels(reader),
    forUnread && loadStates(reader, source),
  ]);
}

/** The public channels that the reader may read, and from which id on. */
async function publicChannels(reader: Reader): Promise<Pick<PlaceStream, 'place' | 'above'>[]> {
  const [channels, subscriptions, user] = await Promise.all([
    reader.channels(),
    reader.subscriptions(),
    reader.user(reader.userId),
  ]);
  const isOfGuest = user?.role === roles.guest;
  return channels.flatMap(({ channelId, isPrivate }) => {
    const since = subscriptions.get(channelId)?.since;
    if (isPrivate || (isOfGuest && since === undefined)) return [];
    return [{ place: { channelId }, above: isOfGuest ? (since ?? 0) : 0 }];
  });
}

/** The read states of a source. Those of listed messages are read with the messages. */
async function loadStates(reader: Reader, source: Source): Promise<readonly ReadState[]> {
  if (source.kind === 'listed' || source.kind === 'starred' || source.kind === 'searched') return [];
  if (source.kind !== 'place') return [...(await reader.states()).values()];
  const { conversation, channelId } = source.place;
  if (channelId !== undefined) return [...(await reader.states(channelId)).values()];
  const state = conversation === undefined ? undefined : await reader.state(conversation);
  return state === undefined ? [] : [state];
}

/** The places of a personal source, and from which id on the reader has access to them. */
function placesOf(
  source: Source,
  subscriptions: readonly Pick<Subscription, 'channelId' | 'since'>[],
  conversations: readonly (readonly number[])[],
): Pick<PlaceStream, 'place' | 'above'>[] {
  const channels = subscriptions.map(({ channelId, since }) => ({ place: { channelId }, above: since }));
  const included = source.kind === 'direct' ? source.people : [];
  const directs = conversations
    .filter((people) => included.every((id) => people.includes(id)))
    .map((people) => ({ place: { conversation: directConversation(people), people }, above: 0 }));
  switch (source.kind) {
    case 'topic':
      return subscriptions.map(({ channelId, since }) => ({
        place: { channelId, conversation: topicConversation(channelId, source.topic) },
        above: since,
      }));
    case 'direct':
      return directs;
    case 'channels':
      return channels;
    case 'received':
      return [...channels, ...directs];
    default:
      return [];
  }
}

/** The streams of a source, each made once. `loadSource` must have read what they depend on. */
export class SourceStreams {
  readonly #reader: Reader;
  readonly #source: Source;
  readonly #caches = new Map<string, RangeCache>();
  #all: Promise<readonly (MessageStream | PlaceStream)[]> | undefined;
  #unread: Promise<readonly MessageStream[]> | undefined;

  constructor(reader: Reader, source: Source) {
    this.#reader = reader;
    this.#source = source;
  }

  /**
   * Reads around an id before the reader's access is known, so that both take one round trip: at the places of the
   * source, or at those of the hint if the source is personal.
   */
  async prefetch(
    { pivot, older, newer }: Around,
    hint: FeedHint | undefined,
    isFiltered: boolean,
  ): Promise<void> {
    const caches = this.#expectedCaches(hint);
    const limit = (need: number): number => firstRead(need, caches.length, isFiltered);
    await Promise.all(
      caches.map(async (cache) => {
        cache.moveTo(pivot);
        await Promise.all([
          older > 0 && cache.extend('older', limit(older)),
          newer > 0 && cache.extend('newer', limit(newer)),
        ]);
      }),
    );
  }

  #expectedCaches(hint: FeedHint | undefined): RangeCache[] {
    if (this.#source.kind === 'public') return [];
    // The index is asked for verified callers only.
    if (this.#source.kind === 'searched') return [];
    if (!isPersonal(this.#source)) return [this.#onlyCache()];
    if (hint === undefined) return [];
    const subscriptions = hint.channels.map((channelId) => ({ channelId, since: 0 }));
    return placesOf(this.#source, subscriptions, hint.dialogues).map(({ place }) => this.#cacheOf(place));
  }

  /** All that the reader has access to. */
  all(): Promise<readonly (MessageStream | PlaceStream)[]> {
    this.#all ??= this.#make();
    return this.#all;
  }

  /** The same above the read floors, and the messages that are listed as unread. */
  unread(): Promise<readonly MessageStream[]> {
    this.#unread ??= this.#makeUnread();
    return this.#unread;
  }

  async #makeUnread(): Promise<readonly MessageStream[]> {
    const streams = await this.all();
    const above = await Promise.all(
      streams.map((stream) => ('place' in stream ? aboveReadFloor(this.#reader, stream) : stream)),
    );
    const { cached, uncached } = await listedAsUnread(this.#reader, this.#source, streams);
    return [
      ...above.filter((stream) => stream !== undefined),
      { cache: RangeCache.of(cached), above: 0 },
      listedStream(this.#reader, uncached),
    ];
  }

  async #make(): Promise<readonly (MessageStream | PlaceStream)[]> {
    const reader = this.#reader;
    const source = this.#source;
    if (source.kind === 'place') return this.#placeStreams(source.place);
    if (source.kind === 'public') return this.#streamsOf(await publicChannels(reader));
    if (!isPersonal(source)) return [{ cache: this.#onlyCache(), above: 0 }];
    const [subscriptions, memberships] = await Promise.all([
      reader.subscriptions(),
      reader.directMemberships(),
    ]);
    const conversations = memberships.map(({ people }) => people);
    return this.#streamsOf(placesOf(source, [...subscriptions.values()], conversations));
  }

  #streamsOf(places: readonly Pick<PlaceStream, 'place' | 'above'>[]): PlaceStream[] {
    return places.map((at) => ({ ...at, cache: this.#cacheOf(at.place) }));
  }

  /** A named place, from where its history begins for the reader. */
  async #placeStreams(place: MessageScope): Promise<PlaceStream[]> {
    const stream = { place, cache: this.#cacheOf(place), above: 0 };
    if (place.channelId === undefined) return [stream];
    const access = await this.#reader.channel(place.channelId);
    if (access === undefined) return [];
    if (access.channel.historyPublicToSubscribers) return [stream];
    return access.subscription === undefined ? [] : [{ ...stream, above: access.subscription.since }];
  }

  /** The cache of a source that is not personal. */
  #onlyCache(): RangeCache {
    const source = this.#source;
    if (source.kind === 'place') return this.#cacheOf(source.place);
    return this.#once('', () => new RangeCache(this.#onlyReader()));
  }

  #onlyReader(): RangeReader {
    const source = this.#source;
    if (source.kind === 'searched') {
      const within = new SourceStreams(this.#reader, source.within);
      return searched(this.#reader, source.search, () => within.all());
    }
    return source.kind === 'listed' ? listedWithContext(this.#reader, source.ids) : starredBy(this.#reader);
  }

  #cacheOf(place: MessageScope): RangeCache {
    const name = place.conversation ?? String(place.channelId);
    return this.#once(name, () => placeCache(this.#reader, place));
  }

  #once(name: string, make: () => RangeCache): RangeCache {
    const cache = this.#caches.get(name) ?? make();
    this.#caches.set(name, cache);
    return cache;
  }
}

/** The messages of a source that are listed one by one as unread: heads that are cached, and ids of the others. */
export async function listedAsUnread(
  reader: Reader,
  source: Source,
  streams: readonly MessageStream[],
): Promise<{ readonly cached: readonly MessageHead[]; readonly uncached: readonly number[] }> {
  const states = await loadStates(reader, source);
  const listed = states.flatMap(({ channelId, unread }) =>
    source.kind === 'direct' && channelId !== undefined ? [] : [...(unread ?? [])],
  );
  if (listed.length === 0) return { cached: [], uncached: [] };
  const heads = new Map(streams.flatMap(({ cache }) => [...cache.heads()].map((head) => [head.id, head])));
  return {
    cached: listed.flatMap((id) => heads.get(id) ?? []),
    // An id that all streams cover and none has is in none of them.
    uncached: listed.filter((id) => !heads.has(id) && !streams.every(({ cache }) => cache.covers(id))),
  };
}
