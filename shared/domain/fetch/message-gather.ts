import type { MessageHead } from '../../log/message.ts';
import type { Side, Strip } from '../message/message-strip.ts';

/** A strip as one reader may read it: nothing at or below `above` is theirs. */
export interface Lane {
  readonly strip: Strip;
  readonly above: number;
}

/** What is wanted of some lanes: up to `need` messages on one side of an id, nearest first. */
export interface Search {
  readonly lanes: readonly Lane[];
  readonly side: Side;
  /** Where to begin: `older` looks below it, `newer` at it and above. */
  readonly from: number;
  readonly need: number;
  /** Which of these messages are wanted: their ids. */
  readonly keep: (heads: readonly MessageHead[]) => Promise<ReadonlySet<number>>;
  /** False: look only at what the strips know already. */
  readonly mayRead: boolean;
}

export interface Gathered {
  /** Nearest first, at most `need`. */
  readonly heads: readonly MessageHead[];
  /** There are as many as wanted, or there are no more. */
  readonly complete: boolean;
}

/** Messages that one read of one lane takes. */
const SMALLEST_READ = 50;
const LARGEST_READ = 1_000;
/** A search gives up when so many messages were not wanted. */
const MOST_UNWANTED = 10_000;

/** How much to read of each lane at first: together about twice what is needed, since they are not equally full. */
const firstRead = (need: number, lanes: number): number =>
  lanes < 2
    ? Math.min(need, LARGEST_READ)
    : Math.min(need, LARGEST_READ, Math.max(SMALLEST_READ, Math.ceil((2 * need) / lanes)));

/** What was read was not enough, so most of it is not wanted: the next reads are larger. */
const nextRead = (limit: number): number => Math.min(LARGEST_READ, Math.max(4 * SMALLEST_READ, 4 * limit));

/**
 * Finds the nearest wanted messages of several places at once, merging them by id. It reads no further in a place
 * than the search needs, and gives up after 10,000 messages that were not wanted, so that the work is bounded.
 */
export async function gather(search: Search): Promise<Gathered> {
  const { side, from, need, keep } = search;
  const lanes = search.lanes.map((lane) => startOf(lane, side, from));
  const judged = new Map<number, boolean>();
  for (let limit = firstRead(need, lanes.length); ; limit = nextRead(limit)) {
    const known = distinct(lanes.flatMap((lane) => headsOf(lane, side, from))).sort(byNearness(side));
    const edge = edgeOf(lanes, side);
    const within = known.filter(({ id }) => isBefore(side, id, edge));
    await judge(within, judged, keep);
    const kept = within.filter(({ id }) => judged.get(id) === true);
    if (kept.length >= need) return { heads: kept.slice(0, need), complete: true };
    const open = lanes.filter((lane) => isOpen(lane, side));
    if (open.length === 0) return { heads: kept, complete: true };
    const unwanted = within.length - kept.length;
    if (!search.mayRead || unwanted >= MOST_UNWANTED) return { heads: kept, complete: false };
    // A lane that is known as far as the last message that can still be wanted needs no more reading.
    const goal = known.filter(({ id }) => judged.get(id) !== false)[need - 1]?.id;
    const behind = open.filter(
      ({ strip }) => goal === undefined || !isBefore(side, goal, strip.frontier(side)),
    );
    await Promise.all(behind.map(({ strip, above }) => strip.extend(side, limit, above)));
  }
}

/** The lane with its strip brought to where the search begins for it. */
function startOf(lane: Lane, side: Side, from: number): Lane {
  lane.strip.moveTo(side === 'older' ? from : Math.max(from, lane.above + 1));
  return lane;
}

const headsOf = ({ strip, above }: Lane, side: Side, from: number): MessageHead[] =>
  [...strip.heads()].filter(({ id }) => id > above && (side === 'older' ? id < from : id >= from));

/** A message may stand in two lanes. */
const distinct = (heads: readonly MessageHead[]): MessageHead[] => [
  ...new Map(heads.map((head) => [head.id, head])).values(),
];

/** Whether there may be more of the lane on this side. */
const isOpen = ({ strip, above }: Lane, side: Side): boolean =>
  side === 'newer' ? Number.isFinite(strip.frontier(side)) : strip.frontier(side) > above;

/** How far all lanes are known: the nearest of the frontiers of those that go on. */
function edgeOf(lanes: readonly Lane[], side: Side): number {
  const frontiers = lanes.filter((lane) => isOpen(lane, side)).map(({ strip }) => strip.frontier(side));
  return side === 'older'
    ? Math.max(Number.NEGATIVE_INFINITY, ...frontiers)
    : Math.min(Number.POSITIVE_INFINITY, ...frontiers);
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
