import type { MessageHead } from '../../log/message.ts';
import type { Subscription } from '../../model/channel/channel.ts';
import type { MessageScope } from '../../model/message/load.ts';
import { RangeCache } from '../../model/message/load.ts';
import { directConversation, topicConversation } from '../../model/message/message.ts';
import type { ReadState } from '../../model/message/read-state.ts';
import type { RecentChanges } from '../../model/message/recent.ts';
import { firstRead, type MessageStream } from '../reader/gather.ts';
import { aboveFloor, listedLane, type PlaceLane, stripOf } from '../reader/lanes.ts';
import { starredBy, toldAmongListed } from '../reader/reach.ts';
import type { Reader } from '../reader/reader.ts';
import type { FeedHint } from './feed-hint.ts';
import type { Wanted } from './message-window.ts';
import { canBeTopic, type Term } from './narrow.ts';

/**
 * Where to look for the messages of a narrow: the smallest set of places that holds all of them. What they have in
 * them besides is left out by the narrow's own test.
 */
export type Source =
  | { readonly kind: 'place'; readonly place: MessageScope }
  /** Messages with these ids. */
  | { readonly kind: 'listed'; readonly ids: readonly number[] }
  | { readonly kind: 'starred' }
  /** Direct conversations with all of these people in them. */
  | { readonly kind: 'direct'; readonly people: readonly number[] }
  /** A topic of this name in every channel of the reader's. */
  | { readonly kind: 'topic'; readonly topic: string }
  /** All that came to the reader in channels. */
  | { readonly kind: 'channels' }
  /** All that came to the reader. */
  | { readonly kind: 'received' };

/** The best source for a narrow. Only conditions that must hold can say where to look. */
export function sourceOf(terms: readonly Term[]): Source {
  const asked = terms.filter(({ negated }) => !negated);
  const find = <K extends Term['kind']>(kind: K) =>
    asked.find((term): term is Extract<Term, { kind: K }> => term.kind === kind);
  const isState = (state: string): boolean =>
    asked.some((term) => term.kind === 'is' && term.state === state);
  const [id, dm, channel, topic] = [find('id'), find('dm'), find('channel'), find('topic')];
  if (id) return { kind: 'listed', ids: [id.id] };
  if (isState('alerted') || (topic && !canBeTopic(topic.topic))) return { kind: 'listed', ids: [] };
  if (isState('starred')) return { kind: 'starred' };
  if (dm) return place({ conversation: directConversation(dm.people), people: dm.people });
  if (channel && topic) {
    const conversation = topicConversation(channel.channel, topic.topic);
    return place({ conversation, channelId: channel.channel });
  }
  if (channel) return place({ channelId: channel.channel });
  if (topic) return { kind: 'topic', topic: topic.topic };
  const including = find('dmIncluding');
  if (including) return { kind: 'direct', people: including.people };
  if (isState('dm')) return { kind: 'direct', people: [] };
  return { kind: isState('followed') || isState('resolved') ? 'channels' : 'received' };
}

const place = (place: MessageScope): Source => ({ kind: 'place', place });

/** Whether where to look follows from what the reader has to do with channels and conversations. */
export const isPersonal = ({ kind }: Source): boolean =>
  kind === 'direct' || kind === 'topic' || kind === 'channels' || kind === 'received';

/** Reads what the lanes of a source follow from, in one round trip. `forUnread`: also what the reader has read. */
export async function loadSource(reader: Reader, source: Source, forUnread: boolean): Promise<void> {
  const channelId = source.kind === 'place' ? source.place.channelId : undefined;
  await Promise.all([
    channelId !== undefined && reader.seen(channelId),
    source.kind !== 'place' && reader.subscriptions(),
    isPersonal(source) && reader.dialogues(),
    forUnread && loadStates(reader, source),
  ]);
}

/** What the reader has read in a source, as far as it is noted there. Messages that are listed bring it along. */
async function loadStates(reader: Reader, source: Source): Promise<readonly ReadState[]> {
  if (source.kind === 'listed' || source.kind === 'starred') return [];
  if (source.kind !== 'place') return [...(await reader.states()).values()];
  const { conversation, channelId } = source.place;
  if (channelId !== undefined) return [...(await reader.states(channelId)).values()];
  const state = conversation === undefined ? undefined : await reader.state(conversation);
  return state === undefined ? [] : [state];
}

/** A channel or direct conversation of the reader's, and from where on it is theirs. */
interface Part {
  readonly place: MessageScope;
  readonly above: number;
}

/** Where the messages of a source are, for somebody with these subscriptions and conversations. */
function partsOf(
  source: Source,
  subscriptions: readonly Pick<Subscription, 'channelId' | 'since'>[],
  dialogues: readonly (readonly number[])[],
): Part[] {
  const channels = subscriptions.map(({ channelId, since }) => ({ place: { channelId }, above: since }));
  const among = source.kind === 'direct' ? source.people : [];
  const directs = dialogues
    .filter((people) => among.every((id) => people.includes(id)))
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

/** The lanes of one view. What its source follows from must have been loaded before they are asked for. */
export class Lanes {
  readonly #reader: Reader;
  readonly #source: Source;
  readonly #recent: () => Promise<RecentChanges>;
  readonly #strips = new Map<string, RangeCache>();
  #all: Promise<readonly (MessageStream | PlaceLane)[]> | undefined;
  #unread: Promise<readonly MessageStream[]> | undefined;

  /** `recent` reads the end of the log, once for all lanes of a fetch. */
  constructor(reader: Reader, source: Source, recent: () => Promise<RecentChanges>) {
    this.#reader = reader;
    this.#source = source;
    this.#recent = recent;
  }

  /**
   * Reads around an id before it is known whether the reader may read there, so that it travels with what tells
   * that: where the source says by itself where to look, or else at the places that are remembered.
   */
  async readAround(
    { pivot, older, newer }: Wanted,
    remembered: FeedHint | undefined,
    isFiltered: boolean,
  ): Promise<void> {
    const strips = this.#expected(remembered);
    const most = (need: number): number => firstRead(need, strips.length, isFiltered);
    await Promise.all(
      strips.map(async (strip) => {
        strip.moveTo(pivot);
        await Promise.all([
          older > 0 && strip.extend('older', most(older)),
          newer > 0 && strip.extend('newer', most(newer)),
        ]);
      }),
    );
  }

  #expected(remembered: FeedHint | undefined): RangeCache[] {
    if (!isPersonal(this.#source)) return [this.#own()];
    if (remembered === undefined) return [];
    const subscriptions = remembered.channels.map((channelId) => ({ channelId, since: 0 }));
    return partsOf(this.#source, subscriptions, remembered.dialogues).map(({ place }) =>
      this.#stripAt(place),
    );
  }

  /** Where the messages are, as far as the reader may read there. */
  all(): Promise<readonly (MessageStream | PlaceLane)[]> {
    this.#all ??= this.#make();
    return this.#all;
  }

  /** The same without what is read for certain, and with what is listed as unread. */
  unread(): Promise<readonly MessageStream[]> {
    this.#unread ??= this.#makeUnread();
    return this.#unread;
  }

  async #makeUnread(): Promise<readonly MessageStream[]> {
    const lanes = await this.all();
    const above = await Promise.all(
      lanes.map((lane) => ('place' in lane ? aboveFloor(this.#reader, lane) : lane)),
    );
    const { shown, unknown } = await listedAsUnread(this.#reader, this.#source, lanes);
    return [
      ...above.filter((lane) => lane !== undefined),
      { strip: RangeCache.of(shown), above: 0 },
      listedLane(this.#reader, unknown),
    ];
  }

  async #make(): Promise<readonly (MessageStream | PlaceLane)[]> {
    const reader = this.#reader;
    const source = this.#source;
    if (source.kind === 'place') return this.#placeLanes(source.place);
    if (!isPersonal(source)) return [{ strip: this.#own(), above: 0 }];
    const [subscriptions, dialogues] = await Promise.all([reader.subscriptions(), reader.dialogues()]);
    const people = dialogues.map((dialogue) => dialogue.people);
    return partsOf(source, [...subscriptions.values()], people).map(({ place, above }) => ({
      place,
      above,
      strip: this.#stripAt(place),
    }));
  }

  /** The lane of a place, from where its history begins for the reader. */
  async #placeLanes(place: MessageScope): Promise<PlaceLane[]> {
    const lane = { place, strip: this.#stripAt(place) };
    if (place.channelId === undefined) return [{ ...lane, above: 0 }];
    const seen = await this.#reader.seen(place.channelId);
    if (seen === undefined) return [];
    if (seen.channel.historyPublicToSubscribers) return [{ ...lane, above: 0 }];
    return seen.subscription === undefined ? [] : [{ ...lane, above: seen.subscription.since }];
  }

  /** The one strip of a source that has no more. */
  #own(): RangeCache {
    const source = this.#source;
    if (source.kind === 'place') return this.#stripAt(source.place);
    return this.#once('', () =>
      source.kind === 'listed'
        ? new RangeCache(toldAmongListed(this.#reader, source.ids))
        : new RangeCache(starredBy(this.#reader)),
    );
  }

  #stripAt(place: MessageScope): RangeCache {
    const name = place.conversation ?? String(place.channelId);
    return this.#once(name, () => stripOf(this.#reader, place, this.#recent));
  }

  #once(name: string, make: () => RangeCache): RangeCache {
    const strip = this.#strips.get(name) ?? make();
    this.#strips.set(name, strip);
    return strip;
  }
}

/** Messages of a channel that are listed as unread where they were before. Of other places everything is known. */
async function movedUnreadIn(reader: Reader, source: Source): Promise<readonly number[]> {
  if (source.kind !== 'place' || source.place.channelId === undefined) return [];
  const subscription = await reader.subscription(source.place.channelId);
  return [...(subscription?.movedUnread ?? [])];
}

/** The messages of a source that are listed as unread one by one: those that its lanes show, and the others' ids. */
export async function listedAsUnread(
  reader: Reader,
  source: Source,
  lanes: readonly MessageStream[],
): Promise<{ readonly shown: readonly MessageHead[]; readonly unknown: readonly number[] }> {
  const [states, moved] = await Promise.all([loadStates(reader, source), movedUnreadIn(reader, source)]);
  const listed = [
    ...moved,
    ...states.flatMap(({ channelId, unread }) =>
      source.kind === 'direct' && channelId !== undefined ? [] : [...(unread ?? [])],
    ),
  ];
  if (listed.length === 0) return { shown: [], unknown: [] };
  const heads = new Map(lanes.flatMap(({ strip }) => [...strip.heads()].map((head) => [head.id, head])));
  return {
    shown: listed.flatMap((id) => heads.get(id) ?? []),
    // What all of the lanes cover and none shows is in none of them.
    unknown: listed.filter((id) => !heads.has(id) && !lanes.every(({ strip }) => strip.covers(id))),
  };
}
