import type { Outside } from '../../kernel/outside.ts';
import { wakePush } from '../../kernel/wake-up.ts';
import type { Commit } from '../../log/bulk.ts';
import type { Change } from '../../log/commit.ts';
import { allReadEvent, flagsEvent } from '../../model/message/read-state.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { Fetch } from '../fetch/fetch.ts';
import {
  checkNarrow,
  type NarrowParameter,
  type UnresolvedNarrow,
  type UnresolvedTerm,
} from '../fetch/narrow.ts';
import { type FoundWindow, WindowSearch } from '../fetch/search.ts';
import {
  checkRange,
  clampedRange,
  newestWindow,
  type RangeParameters,
  type Window,
} from '../fetch/window.ts';
import { checkMarking, commitMarking, type Marking, planMarking } from './message-marking.ts';

/** The messages that a request marks: those of a narrow around an anchor, at most 5,000. */
interface NarrowWindow extends UnresolvedNarrow {
  readonly window: Window;
}

/** Parses the narrow and the window of a request (companion facts 1.11). Throws `BAD_NARROW` or `BAD_REQUEST`. */
export const parseNarrowWindow = <P extends RangeParameters & { readonly narrow: NarrowParameter | null }>(
  given: P,
): P & NarrowWindow => ({
  ...given,
  ...checkNarrow(given.narrow ?? []),
  window: checkRange(clampedRange(given)),
});

/** The unread messages that meet a condition, or all of them: the newest 5,000. */
export const newestUnread = (...terms: readonly UnresolvedTerm[]): NarrowWindow => ({
  terms: [...terms, { kind: 'is', state: 'unread', negated: false }],
  window: newestWindow,
});

/** Messages that were found, with what a marking changes in them. */
interface PlannedMarking {
  readonly found: FoundWindow;
  /** The ids of the messages that change. */
  readonly ids: readonly number[];
  readonly ignoredChannels: readonly number[];
  /** One for each transaction; none if nothing changes. */
  readonly changes: readonly Change<void>[];
}

/**
 * Finds the messages of a window and plans to change a flag of theirs. No round trip if `openFetch` has read all of them;
 * for stars one more.
 */
async function planNarrowMarking(
  outside: Pick<Outside, 'now'>,
  { standing }: Caller,
  fetch: Fetch,
  window: Window,
  { op, flag }: Pick<Marking, 'op' | 'flag'>,
): Promise<PlannedMarking> {
  const { reader } = fetch;
  const found = await new WindowSearch(fetch, standing, window).findSettled();
  const { heads } = found;
  const marking = { op, flag, ids: heads.map(({ id }) => id) };
  const [first, last] = [heads[0]?.id, heads.at(-1)?.id];
  const needsStars = flag === 'starred' && first !== undefined && last !== undefined;
  const snapshot = { heads, starred: needsStars ? await reader.stars(first, last) : new Set<number>() };
  const marked = await checkMarking(reader, standing, marking, snapshot);
  const changes = await planMarking(reader, standing, marking, marked, snapshot, outside.now());
  return { found, changes, ...marked };
}

/** The changes of a marking; without any, the event alone that says so (companion facts 1.11). */
export const withEvent = (
  changes: readonly Change<void>[],
  userId: number,
  { op, flag }: Pick<Marking, 'op' | 'flag'>,
): readonly Change<void>[] => {
  const details = flag === 'read' && op === 'remove' ? {} : undefined;
  return changes.length > 0
    ? changes
    : [{ writes: [], entries: [flagsEvent(userId, op, flag, [], details)], result: undefined }];
};

/** The changes of a marking, the last one with the event that all messages are read (companion facts 1.12). */
export function withAllReadEvent(changes: readonly Change<void>[], userId: number): readonly Change<void>[] {
  const last = changes.at(-1);
  return [
    ...changes.slice(0, -1),
    { writes: last?.writes ?? [], entries: [allReadEvent(userId)], result: undefined },
  ];
}

/** A request that marks what its narrow finds. */
type MarkingRequest = Parameters<typeof wakePush>[0] & {
  readonly caller: Caller;
  readonly outside: Outside;
  readonly commit: Commit;
  readonly input: Pick<NarrowWindow, 'window'>;
};

/**
 * Marks the messages of the request's window, one transaction after the other. What was read need not be shown on
 * telephones any more. Throws as `commitMarking` does.
 *
 * @param withEvents adds events to the planned changes
 */
export async function markNarrow(
  request: MarkingRequest,
  fetch: Fetch,
  marking: Pick<Marking, 'op' | 'flag'>,
  withEvents = ({ changes }: PlannedMarking): readonly Change<void>[] => changes,
): Promise<PlannedMarking> {
  const { outside, caller, commit, input } = request;
  const planned = await planNarrowMarking(outside, caller, fetch, input.window, marking);
  for (const change of withEvents(planned)) await commitMarking(outside, fetch.reader, commit, change);
  if (marking.flag === 'read' && marking.op === 'add') await wakePush(request);
  return planned;
}

/** Marks the messages of the request's window as read. */
export const markRead = (
  request: MarkingRequest,
  fetch: Fetch,
  withEvents?: Parameters<typeof markNarrow>[3],
): Promise<PlannedMarking> => markNarrow(request, fetch, { op: 'add', flag: 'read' }, withEvents);
