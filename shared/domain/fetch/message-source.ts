import type { Subscription } from '../channel/channel.ts';
import { directConversation, topicConversation } from '../message/conversation.ts';
import { Strip } from '../message/message-strip.ts';
import { visibility } from '../topic/visibility.ts';
import type { ReadState } from '../unread/read-state.ts';
import type { Lane } from './message-gather.ts';
import {
  aboveFloor,
  channelLane,
  dialogueLane,
  listedLane,
  type Place,
  type PlaceLane,
  type Recent,
  stripOf,
} from './message-lanes.ts';
import { amongListed, recentMessages, starredBy } from './message-reach.ts';
import { canBeTopic, type Term } from './narrow.ts';
import type { Reader } from './reader.ts';

/**
 * Where to look for the messages of a narrow: the smallest set of places that holds all of them. What they have in
 * them besides is left out by the narrow's own test.
 */
export type Source =
  | { readonly kind: 'place'; readonly place: Place }
  /** Messages with these ids. */
  | { readonly kind: 'listed'; readonly ids: readonly number[] }
  | { readonly kind: 'starred' }
  /** Direct conversations with all of these people in them. */
  | { readonly kind: 'direct'; readonly people: readonly number[] }
  /** A topic of this name in every channel of the reader's. */
  | { readonly kind: 'topic'; readonly topic: string }
  | { readonly kind: 'followed' }
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
  if (dm) return place({ conversation: directConversation(dm.people), people: dm.people });
  if (channel && topic) {
    const conversation = topicConversation(channel.channel, topic.topic);
    return place({ conversation, channelId: channel.channel });
  }
  if (channel) return place({ channelId: channel.channel });
  if (isState('starred')) return { kind: 'starred' };
  if (topic) return { kind: 'topic', topic: topic.topic };
  const including = find('dmIncluding');
  if (including) return { kind: 'direct', people: including.people };
  if (isState('dm')) return { kind: 'direct', people: [] };
  return isState('followed') ? { kind: 'followed' } : { kind: 'received' };
}

const place = (place: Place): Source => ({ kind: 'place', place });

/** Reads what the lanes of a source follow from, in one round trip. `forUnread`: also what the reader has read. */
export async function loadSource(reader: Reader, source: Source, forUnread: boolean): Promise<void> {
  const channelId = source.kind === 'place' ? source.place.channelId : undefined;
  await Promise.all([
    channelId !== undefined && reader.seen(channelId),
    source.kind !== 'place' && reader.subscriptions(),
    isPersonal(source) && reader.dialogues(),
    source.kind === 'followed' && reader.topicPolicies(),
    forUnread && loadStates(reader, source),
  ]);
}

/** What the reader has read in a source, as far as it is noted there. */
async function loadStates(reader: Reader, source: Source): Promise<readonly ReadState[]> {
  const place = source.kind === 'place' ? source.place : undefined;
  if (place?.conversation === undefined || place.channelId !== undefined) {
    return [...(await reader.states(place?.channelId)).values()];
  }
  const state = await reader.state(place.conversation);
  return state === undefined ? [] : [state];
}

/** Whether where to look follows from what the reader has to do with channels and conversations. */
const isPersonal = ({ kind }: Source): boolean => kind !== 'place' && kind !== 'listed';

/**
 * The lanes of one request. What its source follows from must have been loaded; then making them reads nothing but
 * the newest messages, which come with the first read of a lane.
 */
export class Lanes {
  readonly #reader: Reader;
  readonly #source: Source;
  #recent: Recent | undefined;
  #here: Strip | undefined;
  #all: Promise<readonly (Lane | PlaceLane)[]> | undefined;

  constructor(reader: Reader, source: Source) {
    this.#reader = reader;
    this.#source = source;
  }

  /** The newest messages of the organization: read once, with whatever is read beside them. */
  recent(): Recent {
    this.#recent ??= recentMessages(this.#reader.table, this.#reader.realm);
    return this.#recent;
  }

  /**
   * Reads on both sides of an id where it is known already where to look: before it is known whether the reader may
   * read there, so that it travels with what tells that.
   */
  async readAround(pivot: number, older: number, newer: number): Promise<void> {
    const strip = this.#strip();
    if (strip === undefined) return;
    strip.moveTo(pivot);
    await Promise.all([older > 0 && strip.extend('older', older), newer > 0 && strip.extend('newer', newer)]);
  }

  /** The one strip of a source that has no more; undefined for the others. */
  #strip(): Strip | undefined {
    const source = this.#source;
    if (source.kind === 'place') this.#here ??= stripOf(this.#reader, source.place, this.recent());
    if (source.kind === 'listed') this.#here ??= new Strip(amongListed(this.#reader, source.ids));
    if (source.kind === 'starred') this.#here ??= new Strip(starredBy(this.#reader));
    return this.#here;
  }

  /** Where the messages are, as far as the reader may read there. */
  all(): Promise<readonly (Lane | PlaceLane)[]> {
    this.#all ??= this.#make();
    return this.#all;
  }

  /** The same without what is read for certain, and with what is listed as unread. */
  async unread(): Promise<readonly Lane[]> {
    const lanes = await this.all();
    const above = await Promise.all(
      lanes.map((lane) => ('place' in lane ? aboveFloor(this.#reader, lane) : lane)),
    );
    return [...above.filter((lane) => lane !== undefined), listedLane(this.#reader, await this.#listed())];
  }

  /** The messages here that are listed as unread one by one. */
  async #listed(): Promise<number[]> {
    const states = await loadStates(this.#reader, this.#source);
    return states.flatMap(({ unread }) => [...(unread ?? [])]);
  }

  async #make(): Promise<readonly (Lane | PlaceLane)[]> {
    const source = this.#source;
    const strip = this.#strip();
    if (strip !== undefined) {
      return source.kind === 'place' ? this.#placeLanes(source.place, strip) : [{ strip, above: 0 }];
    }
    switch (source.kind) {
      case 'direct':
        return this.#dialogueLanes(source.people);
      case 'topic':
        return this.#topicLanes((await this.#subscribed()).map((each) => ({ ...each, topic: source.topic })));
      case 'followed':
        return this.#topicLanes(await this.#followed());
      case 'received': {
        const channels = (await this.#subscribed()).map((each) =>
          channelLane(this.#reader, each, this.recent()),
        );
        return [...channels, ...(await this.#dialogueLanes([]))];
      }
      default:
        return [];
    }
  }

  async #subscribed(): Promise<Subscription[]> {
    return [...(await this.#reader.subscriptions()).values()];
  }

  /** The lane of a place, from where its history begins for the reader. */
  async #placeLanes(place: Place, strip: Strip): Promise<PlaceLane[]> {
    const lane = { place, strip };
    if (place.channelId === undefined) return [{ ...lane, above: 0 }];
    const seen = await this.#reader.seen(place.channelId);
    if (seen === undefined) return [];
    if (seen.channel.historyPublicToSubscribers) return [{ ...lane, above: 0 }];
    return seen.subscription === undefined ? [] : [{ ...lane, above: seen.subscription.since }];
  }

  async #dialogueLanes(people: readonly number[]): Promise<PlaceLane[]> {
    const dialogues = await this.#reader.dialogues();
    return dialogues
      .filter((dialogue) => people.every((id) => dialogue.people.includes(id)))
      .map((dialogue) => dialogueLane(this.#reader, dialogue, this.recent()));
  }

  /** Lanes of topics in channels to which the reader is subscribed. */
  #topicLanes(topics: readonly (Subscription & { readonly topic: string })[]): PlaceLane[] {
    return topics.map(({ channelId, topic, since }) => {
      const place = { channelId, conversation: topicConversation(channelId, topic) };
      return { place, strip: stripOf(this.#reader, place, this.recent()), above: since };
    });
  }

  async #followed(): Promise<(Subscription & { readonly topic: string })[]> {
    const [policies, subscriptions] = await Promise.all([
      this.#reader.topicPolicies(),
      this.#reader.subscriptions(),
    ]);
    return policies
      .filter(({ policy }) => policy === visibility.followed)
      .flatMap(({ channelId, topic }) => {
        const subscription = subscriptions.get(channelId);
        return subscription ? [{ ...subscription, topic }] : [];
      });
  }
}
