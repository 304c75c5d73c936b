import type { MessageHead } from '../../log/message.ts';
import { RangeCache } from '../../model/message/load.ts';
import type { RecentChanges } from '../../model/message/recent.ts';
import { LARGEST_NUMBER } from '../../table/keys.ts';
import { type Gathered, type MessageStream, mergeStreams, type Search } from '../reader/gather.ts';
import { aboveFloor, listedLane } from '../reader/lanes.ts';
import { inLog } from '../reader/reach.ts';
import type { Reader } from '../reader/reader.ts';
import type { FeedHint } from './feed-hint.ts';
import { Lanes, listedAsUnread, type Source } from './message-source.ts';
import type { Wanted } from './message-window.ts';

/** What the views of one fetch have in common. */
export interface Snapshot {
  readonly reader: Reader;
  readonly source: Source;
  /** Where the messages were to be found lately. */
  readonly remembered: FeedHint | undefined;
  /** There are conditions besides those that the source follows from, so that not all of its messages are wanted. */
  readonly isFiltered: boolean;
  /** One of them is that a message is unread. */
  readonly isUnreadOnly: boolean;
  /** The end of the log: read once. */
  readonly recent: () => Promise<RecentChanges>;
}

/** Slots of the log that one look takes. */
const LOG_PAGE = { least: 100, most: 1_000 } as const;

const logPage = (need: number): number => Math.min(LOG_PAGE.most, Math.max(LOG_PAGE.least, 2 * need));

/** Messages that are read beyond those needed, since what was unread when it was looked for last may be read now. */
export const SLACK = 50;

/** Behind all messages. */
export const END = LARGEST_NUMBER + 1;

/**
 * The messages of a fetch as they are seen from one id. What is near it is read first, before it is known where the
 * reader may read: at the places where the messages are or probably are, or, for all that came to somebody in an
 * organization where much does, in the log itself.
 */
export class View {
  readonly #snapshot: Snapshot;
  readonly #lanes: Lanes;
  readonly #log: RangeCache | undefined;
  #isSparse = false;

  constructor(snapshot: Snapshot) {
    const { reader, source, remembered, isFiltered, recent } = snapshot;
    const isDense = remembered === undefined || (!remembered.isSparse && !isFiltered);
    this.#snapshot = snapshot;
    this.#lanes = new Lanes(reader, source, recent);
    this.#log = source.kind === 'received' && isDense ? new RangeCache(inLog(reader)) : undefined;
  }

  /** The log had too little for the reader, so that the places had to be read. */
  get isSparse(): boolean {
    return this.#isSparse;
  }

  /** Reads around an id, in one round trip. `isDeep`: as far as for a condition that not every message meets. */
  async open(wanted: Wanted, isDeep = false): Promise<void> {
    const { remembered, isFiltered } = this.#snapshot;
    const log = this.#log;
    if (log === undefined) return this.#lanes.readAround(wanted, remembered, isFiltered || isDeep);
    const { pivot, older, newer } = wanted;
    const page = (need: number): number => (isDeep ? LOG_PAGE.most : logPage(need));
    log.moveTo(pivot);
    await Promise.all([
      older > 0 && log.extend('older', page(older)),
      newer > 0 && log.extend('newer', page(newer)),
    ]);
  }

  /** Finds messages on one side of an id. Where what is known does not do, it reads further if it may. */
  async find(search: Omit<Search, 'lanes' | 'isFiltered'>): Promise<Gathered> {
    const { isFiltered, isUnreadOnly } = this.#snapshot;
    if (search.need === 0) return { heads: [], complete: true };
    if (this.#log) {
      const lanes = [{ strip: this.#log, above: 0 }];
      const found = await mergeStreams({ ...search, lanes, mayRead: false });
      if (found.complete) return found;
      this.#isSparse ||= !isFiltered && found.heads.length < Math.min(search.need, LOG_PAGE.most / 2);
    }
    const lanes = await (isUnreadOnly ? this.#lanes.unread() : this.#lanes.all());
    return mergeStreams({ ...search, lanes, isFiltered });
  }

  /** The messages that are known by now. */
  async known(): Promise<MessageHead[]> {
    const lanes = await this.#shown();
    return lanes.flatMap(({ strip, above }) => [...strip.heads()].filter(({ id }) => id > above));
  }

  /** Where there may be unread messages below an id that are not known yet: lanes of their own. */
  async unknownUnreadBelow(id: number): Promise<MessageStream[]> {
    const { reader, source, recent } = this.#snapshot;
    const [shown, here, fresh] = await Promise.all([
      this.#shown(),
      this.#lanes.all(),
      new Lanes(reader, source, recent).all(),
    ]);
    const lanes = await Promise.all(
      fresh.map(async (lane, i): Promise<MessageStream[]> => {
        const above = 'place' in lane ? await aboveFloor(reader, lane) : lane;
        const below = (this.#log ?? here[i]?.strip)?.knownBelow(id) ?? id;
        return above !== undefined && above.above + 1 < below ? [{ ...above, below }] : [];
      }),
    );
    const { unknown } = await listedAsUnread(reader, source, shown);
    const before = unknown.filter((each) => each < id);
    return before.length === 0 ? lanes.flat() : [...lanes.flat(), listedLane(reader, before)];
  }

  async #shown(): Promise<readonly MessageStream[]> {
    return this.#log ? [{ strip: this.#log, above: 0 }] : this.#lanes.all();
  }
}
