import type { MessageHead } from '../../log/message.ts';
import type { Side } from '../../model/message/load.ts';
import type { MessageStream } from './streams.ts';

/** A search for up to `need` messages on one side of an id, nearest first. */
export interface Search {
  readonly streams: readonly MessageStream[];
  readonly side: Side;
  /** Where to begin: `older` searches below this id, `newer` from it up. */
  readonly from: number;
  readonly need: number;
  /** Returns the ids of those messages that match. */
  readonly keep: (heads: readonly MessageHead[]) => Promise<ReadonlySet<number>>;
  /** False: use only what is cached. */
  readonly mayRead: boolean;
  /** `keep` rejects more than what the reader has no access to, so reads are larger. */
  readonly isFiltered?: boolean;
  /** `keep` reads messages whole, so it gets few at once and none beyond what is needed. */
  readonly readsTexts?: boolean;
}

export interface SearchResult {
  /** Nearest first, at most `need`. */
  readonly heads: readonly MessageHead[];
  /** There are `need` messages, or there are no more. */
  readonly isComplete: boolean;
}

/** Messages per read of one stream. 4,000 heads are about 1 MB, which is a page of DynamoDB. */
const MIN_READ = 10;
const MAX_READ = 4_000;
/** Messages per read of all streams together, unless they are so many that `MIN_READ` of each is more. */
const MAX_READ_TOTAL = 20_000;
/** Messages that a filtered search reads beyond `need`. */
const FILTERED_EXTRA = 2_000;
/** A search gives up after so many messages that did not match. */
const MAX_REJECTED = 10_000;
/** The same if it reads their texts, which takes twenty times as many units. */
export const MAX_TEXTS = 2_000;
/** Texts of one read: at first as many as are needed, at least so many, then more. */
export const TEXTS_AT_ONCE = 100;
const MAX_TEXTS_AT_ONCE = 500;

const maxReadOf = (streams: number): number =>
  Math.min(MAX_READ, Math.max(MIN_READ, Math.floor(MAX_READ_TOTAL / Math.max(1, streams))));

/** The size of the first read of each stream: all of `need`, since one stream may hold all of it, or a fair share. */
export const firstRead = (need: number, streams: number, isFiltered: boolean): number =>
  Math.min(maxReadOf(streams), isFiltered ? need + FILTERED_EXTRA : need);

/** The first read was not enough, so most messages do not match: the next reads are larger. */
const nextRead = (limit: number, streams: number): number =>
  Math.min(maxReadOf(streams), Math.max(200, 4 * limit));

/**
 * Finds the nearest matching messages of several streams, merged by id. It reads no further in a stream than it must,
 * and gives up after 10,000 messages that did not match (2,000 if it reads their texts), so that the work is bounded.
 */
export async function mergeStreams(search: Search): Promise<SearchResult> {
  const { streams, side, from, need } = search;
  for (const { cache, above } of streams) cache.moveTo(side === 'older' ? from : Math.max(from, above + 1));
  const verdicts = new Map<number, boolean>();
  for (let limit = firstRead(need, streams.length, search.isFiltered === true); ; ) {
    const cached = distinct(streams.flatMap((stream) => headsOf(stream, side, from))).sort(byNearness(side));
    const edge = edgeOf(streams, side);
    const within = cached.filter(({ id }) => isBefore(side, id, edge));
    await judge(within, verdicts, search);
    const kept = within.filter(({ id }) => verdicts.get(id) === true);
    if (kept.length >= need) return { heads: kept.slice(0, need), isComplete: true };
    const isJudged = within.every(({ id }) => verdicts.has(id));
    const open = streams.filter((stream) => isOpen(stream, side));
    if (open.length === 0 && isJudged) return { heads: kept, isComplete: true };
    const rejected = within.length - kept.length;
    if (!search.mayRead || rejected >= maxRejected(search)) return { heads: kept, isComplete: false };
    // A stream that is cached up to the last message that can still match needs no more reads.
    const goal = cached.filter(({ id }) => verdicts.get(id) !== false)[need - 1]?.id;
    const behind = open.filter(
      ({ cache }) => goal === undefined || !isBefore(side, goal, cache.frontier(side)),
    );
    await Promise.all(behind.map(({ cache, above, below }) => cache.extend(side, limit, above, below)));
    limit = nextRead(limit, behind.length);
  }
}

const END = Number.POSITIVE_INFINITY;

const headsOf = ({ cache, above, below = END }: MessageStream, side: Side, from: number): MessageHead[] =>
  [...cache.heads()].filter(
    ({ id }) => id > above && id < below && (side === 'older' ? id < from : id >= from),
  );

/** A message may be in two streams. */
const distinct = (heads: readonly MessageHead[]): MessageHead[] => [
  ...new Map(heads.map((head) => [head.id, head])).values(),
];

/** Whether the stream may have more messages on this side. */
const isOpen = ({ cache, above, below = END }: MessageStream, side: Side): boolean =>
  side === 'newer' ? cache.frontier(side) < below : cache.frontier(side) > above;

/** The id up to which all streams are cached. */
function edgeOf(streams: readonly MessageStream[], side: Side): number {
  const frontiers = streams.filter((stream) => isOpen(stream, side)).map(({ cache }) => cache.frontier(side));
  return side === 'older' ? Math.max(Number.NEGATIVE_INFINITY, ...frontiers) : Math.min(END, ...frontiers);
}

/** Whether `id` comes before `edge` in this direction. */
const isBefore = (side: Side, id: number, edge: number): boolean =>
  side === 'older' ? id > edge : id < edge;

const byNearness =
  (side: Side) =>
  (a: MessageHead, b: MessageHead): number =>
    side === 'older' ? b.id - a.id : a.id - b.id;

const maxRejected = ({ readsTexts }: Search): number => (readsTexts === true ? MAX_TEXTS : MAX_REJECTED);

/**
 * Adds a verdict for each head that has none, nearest first. If texts must be read, it stops when enough match or too many
 * do not.
 */
async function judge(
  heads: readonly MessageHead[],
  verdicts: Map<number, boolean>,
  search: Search,
): Promise<void> {
  const { keep, need, readsTexts } = search;
  const open = heads.filter(({ id }) => !verdicts.has(id));
  let size = readsTexts === true ? Math.min(MAX_TEXTS_AT_ONCE, Math.max(TEXTS_AT_ONCE, need)) : open.length;
  for (let start = 0; start < open.length; ) {
    const next = open.slice(start, start + size);
    const kept = await keep(next);
    for (const { id } of next) verdicts.set(id, kept.has(id));
    start += next.length;
    size = Math.min(MAX_TEXTS_AT_ONCE, 2 * size);
    const matching = heads.filter(({ id }) => verdicts.get(id) === true).length;
    const rejected = heads.filter(({ id }) => verdicts.get(id) === false).length;
    if (matching >= need || rejected >= maxRejected(search)) return;
  }
}
