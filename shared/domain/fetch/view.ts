import { chunksOf } from '../../lists.ts';
import type { MessageHead } from '../../log/message.ts';
import { type MessageScope, RangeCache } from '../../model/message/load.ts';
import { topicConversation } from '../../model/message/message.ts';
import { visibility } from '../../model/message/user-topic.ts';
import {
  MAX_TEXTS,
  mergeStreams,
  type Search,
  type SearchResult,
  TEXTS_AT_ONCE,
} from '../reader/merge-streams.ts';
import { isChannelMuted } from '../reader/muting.ts';
import type { Reader } from '../reader/reader.ts';
import { aboveReadFloor, inLog, listedStream, type MessageStream, placeCache } from '../reader/streams.ts';
import type { FeedHint } from './feed-hint.ts';
import { listedAsUnread, type Source, SourceStreams } from './source.ts';
import { type Around, END } from './window.ts';

/** What the views of one fetch share. */
export interface ViewOptions {
  readonly reader: Reader;
  readonly source: Source;
  readonly hint: FeedHint | undefined;
  /** There are conditions that the source does not imply, so that not all of its messages match. */
  readonly isFiltered: boolean;
  /** One of them is `is:unread`. */
  readonly isUnreadOnly: boolean;
  /** One of them is about texts, so that matching messages are read whole. */
  readonly readsTexts: boolean;
}

/** Slots of the log that are read for some messages. Fewer are read at first where the container knows how many it takes. */
const MIN_SLOTS = 100;
const MAX_SLOTS = 1_000;
const mostSlots = (need: number): number => Math.min(MAX_SLOTS, Math.max(MIN_SLOTS, 2 * need));

/** Spare slots, since what is between the messages varies. */
const withSpare = (slots: number): number => Math.ceil(1.2 * slots) + 10;

/** Fewer messages than this say nothing about how many slots the next ones take. */
const MIN_SAMPLE = 10;

/**
 * The messages of a fetch around one id. It reads heads near that id before the reader's access is known: in the log
 * itself if most of the organization's messages are the reader's, or else in the places of the source.
 */
export class View {
  readonly #options: ViewOptions;
  readonly #streams: SourceStreams;
  readonly #log?: RangeCache;
  /** The numbers of the slots of the log that were read. */
  readonly #slots: number[] = [];
  #isSparse = false;

  constructor(options: ViewOptions) {
    const { reader, source, hint, isFiltered } = options;
    const isDense = hint === undefined || (!hint.isSparse && !isFiltered);
    this.#options = options;
    this.#streams = new SourceStreams(reader, source);
    const isWide = source.kind === 'received' || source.kind === 'public';
    if (!isWide || !isDense) return;
    const log = new RangeCache(inLog(reader, (seqs) => this.#slots.push(...seqs)));
    this.#log = log;
    reader.noteEnd(() => log.knownBelow(Number.POSITIVE_INFINITY));
  }

  /** The log had too few messages of the reader's, so that the places had to be read. */
  get isSparse(): boolean {
    return this.#isSparse;
  }

  /** Reads heads around an id. One round trip. */
  async open(around: Around): Promise<void> {
    const log = this.#log;
    const { pivot, older, newer, isFiltered = false } = around;
    if (log === undefined)
      return this.#streams.prefetch(around, this.#options.hint, this.#options.isFiltered || isFiltered);
    const { pace } = this.#options.reader;
    const limit = (need: number): number =>
      isFiltered ? MAX_SLOTS : Math.min(mostSlots(need), pace ? withSpare(pace * need) : MAX_SLOTS);
    log.moveTo(pivot);
    await Promise.all([
      older > 0 && log.extend('older', limit(older)),
      newer > 0 && log.extend('newer', limit(newer)),
    ]);
  }

  /** Finds messages on one side of an id. Reads on if the cached ones are not enough and the search allows it. */
  async find(wanted: Omit<Search, 'streams' | 'isFiltered' | 'readsTexts'>): Promise<SearchResult> {
    const { isFiltered, isUnreadOnly, readsTexts } = this.#options;
    const search = { ...wanted, readsTexts };
    if (search.need === 0) return { heads: [], isComplete: true };
    if (this.#log) {
      const found = await this.#findInLog(this.#log, { ...search, streams: await this.#opened() });
      if (found.isComplete || !search.mayRead) return found;
      this.#isSparse ||= !isFiltered && found.heads.length < Math.min(search.need, MAX_SLOTS / 2);
    }
    const streams = await (isUnreadOnly ? this.#streams.unread() : this.#streams.all());
    return mergeStreams({ ...search, streams, isFiltered });
  }

  /** Finds messages in the log. If it may read, and fewer slots were read than usual, it reads the others: one round trip. */
  async #findInLog(log: RangeCache, search: Search): Promise<SearchResult> {
    const { side, from, need, mayRead } = search;
    const find = (): Promise<SearchResult> => mergeStreams({ ...search, mayRead: false });
    const slotsUpTo = (id: number): number =>
      this.#slots.filter((seq) => (side === 'older' ? id <= seq && seq < from : from <= seq && seq <= id))
        .length;
    let found = await find();
    const left = mostSlots(need) - slotsUpTo(side === 'older' ? 0 : END);
    if (!found.isComplete && mayRead && left > 0) {
      await log.extend(side, left);
      found = await find();
    }
    const last = found.heads.at(-1);
    if (last !== undefined && found.heads.length >= MIN_SAMPLE) {
      this.#options.reader.notePace(slotsUpTo(last.id) / found.heads.length);
    }
    return found;
  }

  /** The oldest cached message that matches. */
  async firstCached(keep: Search['keep']): Promise<MessageHead | undefined> {
    const streams = await this.#opened();
    const heads = streams
      .flatMap(({ cache, above }) => [...cache.heads()].filter(({ id }) => id > above))
      .sort((a, b) => a.id - b.id);
    const judged = this.#options.readsTexts ? heads.slice(0, MAX_TEXTS) : heads;
    for (const chunk of chunksOf(judged, this.#options.readsTexts ? TEXTS_AT_ONCE : judged.length)) {
      const kept = await keep(chunk);
      const first = chunk.find(({ id }) => kept.has(id));
      if (first) return first;
    }
    return undefined;
  }

  /** Streams of the messages below an id that may be unread and are not cached. */
  async uncachedUnreadBelow(id: number): Promise<MessageStream[]> {
    const { reader, source } = this.#options;
    const [opened, here, fresh] = await Promise.all([
      this.#opened(),
      this.#streams.all(),
      new SourceStreams(reader, source).all(),
    ]);
    const streams = await Promise.all(
      fresh.map(async (stream, i): Promise<MessageStream[]> => {
        const above = 'place' in stream ? await aboveReadFloor(reader, stream) : stream;
        if (above === undefined) return [];
        if ('place' in stream && (await this.#isLeftOut(stream.place)))
          return this.#openTopics(stream.place, above.above);
        const below = (this.#log ?? here[i]?.cache)?.knownBelow(id) ?? id;
        return above.above + 1 < below ? [{ ...above, below }] : [];
      }),
    );
    const { uncached } = await listedAsUnread(reader, source, opened);
    const older = uncached.filter((each) => each < id);
    return older.length === 0 ? streams.flat() : [...streams.flat(), listedStream(reader, older)];
  }

  /** Whether the first unread message cannot be in a channel, except for single topics: it is muted and was not asked for. */
  async #isLeftOut({ channelId, conversation }: MessageScope): Promise<boolean> {
    const { reader, source } = this.#options;
    const isWhole = channelId !== undefined && conversation === undefined;
    return isWhole && source.kind !== 'place' && (await isChannelMuted(reader, channelId));
  }

  /** The topics of a muted channel that are not muted. */
  async #openTopics(place: MessageScope, above: number): Promise<MessageStream[]> {
    const { reader } = this.#options;
    const open: readonly number[] = [visibility.unmuted, visibility.followed];
    return (await reader.topicPolicies())
      .filter(({ channelId, policy }) => channelId === place.channelId && open.includes(policy))
      .map(({ channelId, topic }) => ({
        cache: placeCache(reader, { channelId, conversation: topicConversation(channelId, topic) }),
        above,
      }));
  }

  /** The streams that `open` reads. */
  async #opened(): Promise<readonly MessageStream[]> {
    return this.#log ? [{ cache: this.#log, above: 0 }] : this.#streams.all();
  }
}
