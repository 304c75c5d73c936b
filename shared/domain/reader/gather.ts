import type { MessageHead } from '../../log/message.ts';
import type { RangeCache, Side } from '../../model/message/load.ts';

/** A strip as one reader may read it: nothing at or below `above` is theirs, nor is what is at or above `below` meant. */
export interface MessageStream {
  readonly strip: RangeCache;
  readonly above: number;
  readonly below?: number;
}

/** What is wanted of some lanes: up to `need` messages on one side of an id, nearest first. */
export interface Search {
  readonly lanes: readonly MessageStream[];
  readonly side: Side;
  /** Where to begin: `older` looks below it, `newer` at it and above. */
  readonly from: number;
  readonly need: number;
  /** Which of these messages are wanted: their ids. */
  readonly keep: (heads: readonly MessageHead[]) => Promise<ReadonlySet<number>>;
  /** False: look only at what the strips know already. */
  readonly mayRead: boolean;
  /** `keep` leaves out more than what the reader may not read, so that much must be looked through at once. */
  readonly isFiltered?: boolean;
}

export interface Gathered {
  /** Nearest first, at most `need`. */
  readonly heads: readonly MessageHead[];
  /** There are as many as wanted, or there are no more. */
  readonly complete: boolean;
}

/** Messages that one read of one lane takes at least, and at most: then their heads are about 1 MB, which is a page. */
const SMALLEST_READ = 10;
const LARGEST_READ = 4_000;
/** What one read of all lanes together takes at most, where that is not less than the smallest of each. */
const MAX_AT_ONCE = 20_000;
/** How much further one read of a lane looks where messages must meet a condition. */
const SEARCHED = 2_000;
/** A search gives up when so many messages were not wanted. */
const MAX_UNWANTED = 10_000;

const shareOf = (lanes: number): number =>
  Math.min(LARGEST_READ, Math.max(SMALLEST_READ, Math.floor(MAX_AT_ONCE / Math.max(1, lanes))));

/**
 * How much to read of each of so many lanes at first: all that is needed, since any of them may have all of it, so
 * that one read is enough; or a fair share, where they are many.
 */
export const firstRead = (need: number, lanes: number, isFiltered: boolean): number =>
  Math.min(shareOf(lanes), isFiltered ? need + SEARCHED : need);

/** What was read was not enough, so most of it is not wanted: the next reads are larger. */
const nextRead = (limit: number, lanes: number): number => Math.min(shareOf(lanes), Math.max(200, 4 * limit));

/**
 * Finds the nearest wanted messages of several places at once, merging them by id. It reads no further in a place
 * than the search needs, and gives up after 10,000 messages that were not wanted, so that the work is bounded.
 */
export async function mergeStreams(search: Search): Promise<Gathered> {
  const { side, from, need, keep } = search;
  const lanes = search.lanes.map((lane) => startOf(lane, side, from));
  const judged = new Map<number, boolean>();
  for (let limit = firstRead(need, lanes.length, search.isFiltered === true); ; ) {
    const known = distinct(lanes.flatMap((lane) => headsOf(lane, side, from))).sort(byNearness(side));
    const edge = edgeOf(lanes, side);
    const within = known.filter(({ id }) => isBefore(side, id, edge));
    await judge(within, judged, keep);
    const kept = within.filter(({ id }) => judged.get(id) === true);
    if (kept.length >= need) return { heads: kept.slice(0, need), complete: true };
    const open = lanes.filter((lane) => isOpen(lane, side));
    if (open.length === 0) return { heads: kept, complete: true };
    const unwanted = within.length - kept.length;
    if (!search.mayRead || unwanted >= MAX_UNWANTED) return { heads: kept, complete: false };
    // A lane that is known as far as the last message that can still be wanted needs no more reading.
    const goal = known.filter(({ id }) => judged.get(id) !== false)[need - 1]?.id;
    const behind = open.filter(
      ({ strip }) => goal === undefined || !isBefore(side, goal, strip.frontier(side)),
    );
    await Promise.all(behind.map(({ strip, above, below }) => strip.extend(side, limit, above, below)));
    limit = nextRead(limit, behind.length);
  }
}

/** The lane with its strip brought to where the search begins for it. */
function startOf(lane: MessageStream, side: Side, from: number): MessageStream {
  lane.strip.moveTo(side === 'older' ? from : Math.max(from, lane.above + 1));
  return lane;
}

const headsOf = ({ strip, above, below = END }: MessageStream, side: Side, from: number): MessageHead[] =>
  [...strip.heads()].filter(
    ({ id }) => id > above && id < below && (side === 'older' ? id < from : id >= from),
  );

const END = Number.POSITIVE_INFINITY;

/** A message may stand in two lanes. */
const distinct = (heads: readonly MessageHead[]): MessageHead[] => [
  ...new Map(heads.map((head) => [head.id, head])).values(),
];

/** Whether there may be more of the lane on this side. */
const isOpen = ({ strip, above, below = END }: MessageStream, side: Side): boolean =>
  side === 'newer' ? strip.frontier(side) < below : strip.frontier(side) > above;

/** How far all lanes are known: the nearest of the frontiers of those that go on. */
function edgeOf(lanes: readonly MessageStream[], side: Side): number {
  const frontiers = lanes.filter((lane) => isOpen(lane, side)).map(({ strip }) => strip.frontier(side));
  return side === 'older' ? Math.max(Number.NEGATIVE_INFINITY, ...frontiers) : Math.min(END, ...frontiers);
}

/** Whether someone who goes this way meets `id` before `edge`. */
const isBefore = (side: Side, id: number, edge: number): boolean =>
  side === 'older' ? id > edge : id < edge;

const byNearness =
  (side: Side) =>
  (a: MessageHead, b: MessageHead): number =>
    side === 'older' ? b.id - a.id : a.id - b.id;

async function judge(
  heads: readonly MessageHead[],
  judged: Map<number, boolean>,
  keep: Search['keep'],
): Promise<void> {
  const open = heads.filter(({ id }) => !judged.has(id));
  if (open.length === 0) return;
  const wanted = await keep(open);
  for (const { id } of open) judged.set(id, wanted.has(id));
}
