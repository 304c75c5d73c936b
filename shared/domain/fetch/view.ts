import type { MessageHead } from '../../log/message.ts';
import { RangeCache } from '../../model/message/load.ts';
import { mergeStreams, type Search, type SearchResult } from '../reader/merge-streams.ts';
import type { Reader } from '../reader/reader.ts';
import { aboveReadFloor, inLog, listedStream, type MessageStream } from '../reader/streams.ts';
import type { FeedHint } from './feed-hint.ts';
import { listedAsUnread, type Source, SourceStreams } from './source.ts';
import type { Around } from './window.ts';

/** What the views of one fetch share. */
export interface ViewOptions {
  readonly reader: Reader;
  readonly source: Source;
  readonly hint: FeedHint | undefined;
  /** There are conditions that the source does not imply, so that not all of its messages match. */
  readonly isFiltered: boolean;
  /** One of them is `is:unread`. */
  readonly isUnreadOnly: boolean;
}

/** Slots per read of the log. */
const MIN_SLOTS = 100;
const MAX_SLOTS = 1_000;

/**
 * The messages of a fetch around one id. It reads heads near that id before the reader's access is known: in the log
 * itself if most of the organization's messages are the reader's, or else in the places of the source.
 */
export class View {
  readonly #options: ViewOptions;
  readonly #streams: SourceStreams;
  readonly #log: RangeCache | undefined;
  #isSparse = false;

  constructor(options: ViewOptions) {
    const { reader, source, hint, isFiltered } = options;
    const isDense = hint === undefined || (!hint.isSparse && !isFiltered);
    this.#options = options;
    this.#streams = new SourceStreams(reader, source);
    this.#log = source.kind === 'received' && isDense ? new RangeCache(inLog(reader)) : undefined;
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
    const limit = (need: number): number =>
      isFiltered ? MAX_SLOTS : Math.min(MAX_SLOTS, Math.max(MIN_SLOTS, 2 * need));
    log.moveTo(pivot);
    await Promise.all([
      older > 0 && log.extend('older', limit(older)),
      newer > 0 && log.extend('newer', limit(newer)),
    ]);
  }

  /** Finds messages on one side of an id. Reads on if the cached ones are not enough and the search allows it. */
  async find(search: Omit<Search, 'streams' | 'isFiltered'>): Promise<SearchResult> {
    const { isFiltered, isUnreadOnly } = this.#options;
    if (search.need === 0) return { heads: [], isComplete: true };
    if (this.#log) {
      const found = await mergeStreams({ ...search, streams: await this.#opened(), mayRead: false });
      if (found.isComplete) return found;
      this.#isSparse ||= !isFiltered && found.heads.length < Math.min(search.need, MAX_SLOTS / 2);
    }
    const streams = await (isUnreadOnly ? this.#streams.unread() : this.#streams.all());
    return mergeStreams({ ...search, streams, isFiltered });
  }

  /** The oldest cached message that matches. */
  async firstCached(keep: Search['keep']): Promise<MessageHead | undefined> {
    const streams = await this.#opened();
    const heads = streams.flatMap(({ cache, above }) => [...cache.heads()].filter(({ id }) => id > above));
    const kept = await keep(heads);
    return heads.filter(({ id }) => kept.has(id)).sort((a, b) => a.id - b.id)[0];
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
        const below = (this.#log ?? here[i]?.cache)?.knownBelow(id) ?? id;
        return above !== undefined && above.above + 1 < below ? [{ ...above, below }] : [];
      }),
    );
    const { uncached } = await listedAsUnread(reader, source, opened);
    const older = uncached.filter((each) => each < id);
    return older.length === 0 ? streams.flat() : [...streams.flat(), listedStream(reader, older)];
  }

  /** The streams that `open` reads. */
  async #opened(): Promise<readonly MessageStream[]> {
    return this.#log ? [{ cache: this.#log, above: 0 }] : this.#streams.all();
  }
}
