import { refusal } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { Commit } from '../../log/bulk.ts';
import { retryOnConflict } from '../../log/commit.ts';
import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { type ChannelWithSubscription, mayReadMessage } from '../../model/channel/access.ts';
import type { Channel } from '../../model/channel/channel.ts';
import { loadMessages } from '../../model/message/load.ts';
import { isSameTopic } from '../../model/message/message.ts';
import { openTo } from '../../model/message/object.ts';
import { hasReactions } from '../../model/message/reaction-store.ts';
import { currentMessages, extents, loadRecentChanges } from '../../model/message/recent.ts';
import type { Relocation, Rewrite } from '../../model/message/revision.ts';
import type { Caller } from '../../model/user/caller.ts';
import { LARGEST_NUMBER } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doLeaveJob, type Job, type TaskKind, type Tasks } from '../outbox/outbox.ts';
import { noticeEntry } from '../send/notice.ts';
import { checkMove, checkMoveTime, isTooOld, moveLimit, type TargetChannel } from './check.ts';
import { noticeInNew } from './notice.ts';
import { endEarlierMoves } from './rest.ts';
import { commitStep, loadStep, loadUnmoved, type Move, STEP, type StepSnapshot } from './step.ts';

/** What the first step of a move needs. */
export interface FirstStep {
  readonly snapshot: StepSnapshot;
  /** Other messages that may move: the oldest ones, in rising order. */
  readonly others: readonly MessageHead[];
  /** There may be more of them. */
  readonly hasMore: boolean;
  /** Someone reacted to the message that is named. */
  readonly isReactedTo: boolean;
  /** The oldest message of the topic that was found. */
  readonly oldest: number;
}

/** Messages that are read to find the oldest one. More than one, since the index may still show some that left. */
const FEW = 4;

/**
 * Reads it. One round trip.
 *
 * Which messages move together is known only after the one that is named was read. To read them too would take another
 * round trip. So they move by their heads in the index: the transaction checks that each is where the index shows it.
 */
export async function loadFirstStep(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  { from, to, mode }: Pick<Move, 'from' | 'to' | 'mode'>,
  main: MessageSlot,
): Promise<FirstStep> {
  const reacted = hasReactions(outside.table, realm, main);
  if (mode === 'change_one') {
    const [snapshot, isReactedTo] = await Promise.all([loadStep(outside, realm, { from, to }, 1), reacted]);
    return { snapshot, others: [], hasMore: false, isReactedTo, oldest: main.id };
  }
  const recent = loadRecentChanges(outside, realm, extents.write);
  const source = { conversation: main.conversation, channelId: from.channelId };
  const reach = currentMessages(outside.table, realm, source, () => recent);
  const isAll = mode === 'change_all';
  const [snapshot, page, before, isReactedTo] = await Promise.all([
    loadStep(outside, realm, { from, to }, STEP, recent),
    reach({ from: isAll ? 0 : main.id + 1, to: LARGEST_NUMBER, side: 'newer', limit: STEP + 1 }),
    // For `change_all`, the oldest message of the topic is on the page.
    isAll ? undefined : reach({ from: 0, to: main.id - 1, side: 'newer', limit: FEW }),
    reacted,
  ]);
  const others = page.heads.filter(({ id }) => id !== main.id).sort((a, b) => a.id - b.id);
  const { topic } = snapshot.left;
  const isMissingSome = isAll && topic !== undefined && topic.arrived - topic.left !== others.length + 1;
  const older = [...others, ...(before?.heads ?? [])].map(({ id }) => id);
  return {
    snapshot,
    others: others.slice(0, STEP - 1),
    hasMore: page.until !== undefined || others.length >= STEP || isMissingSome,
    isReactedTo,
    oldest: Math.min(main.id, before?.until ?? main.id, ...older),
  };
}

/** A requested move, with what it is decided on. */
export interface Relocating {
  readonly to: Omit<Relocation, 'openTo'>;
  readonly target: TargetChannel;
  readonly first: FirstStep;
}

interface MoveContext {
  readonly caller: Caller;
  readonly outside: Outside;
  readonly commit: Commit;
  /** Milliseconds. */
  readonly now: number;
}

/** The options of a move. */
interface MoveOptions {
  readonly mode: Move['mode'];
  /** The new content of the message. */
  readonly rewrite: Rewrite | undefined;
  /** Whether to post notices in the old and the new topic. */
  readonly inOld: boolean;
  readonly inNew: boolean;
}

/** A move that has passed all checks. */
interface Decided {
  readonly move: Move;
  readonly message: MessageSlot;
  readonly seen: ChannelWithSubscription;
  readonly newChannel: Channel;
  /** No message may be older than this (seconds since 1970); undefined if there is no limit. */
  readonly notBefore: number | undefined;
  readonly options: MoveOptions;
}

/** Tries of the first step: by heads of the index, then by messages that were read. */
const MAX_TRIES = 2;

/**
 * Moves a message, and perhaps others of its topic, and posts the notices. Everything is checked before the first step.
 * If there are more messages than one step moves, an outbox job moves the others (`rest.ts`).
 *
 * Returns the jobs. Throws `ConflictError` if the snapshot has changed; then nothing has moved.
 */
export async function moveMessages(
  context: MoveContext,
  { message, seen }: { readonly message: MessageSlot; readonly seen: ChannelWithSubscription },
  { to: place, target, first }: Relocating,
  options: MoveOptions,
): Promise<readonly Job[]> {
  const { caller, outside, now } = context;
  const { realmId: realm, user } = caller;
  const { channel } = seen;
  const { mode } = options;
  const from = { channelId: channel.channelId, topic: message.topic ?? '' };
  const open = openTo(channel);
  const to: Relocation = { ...place, ...(open && { openTo: open }) };
  const asked = { from: { channel, topic: from.topic }, to };
  const newChannel = checkMove(caller, asked, target, first.snapshot.topic);
  const limit = moveLimit(caller, asked);
  if (limit !== undefined) checkMoveTime(message, limit, now);
  const move: Move = { from, to, mode, userId: user.userId, channelName: channel.name, now };
  const notBefore = limit === undefined || mode !== 'change_all' ? undefined : Math.ceil(now / 1000 - limit);
  const decided: Decided = { move, message, seen, newChannel, notBefore, options };
  return retryOnConflict(
    outside,
    async (attempt) => {
      if (attempt === 1) return moveFirst(context, decided, first);
      // A message is not where the index showed it, or is too old: read them.
      if (limit !== undefined && mode === 'change_all')
        await checkTopicMoveTime(outside, caller, { message, seen }, limit, now);
      const again = await loadFirstStep(outside, realm, move, message);
      const ids = again.others.map(({ id }) => id);
      const others = await loadUnmoved(outside.table, realm, move, ids);
      return moveFirst(context, decided, { ...again, others });
    },
    MAX_TRIES,
  );
}

/** Does the first step, and leaves what follows to the outbox. */
async function moveFirst(
  { caller, outside, commit, now }: MoveContext,
  { move, message, seen, newChannel, notBefore, options }: Decided,
  { snapshot, others, hasMore, oldest, isReactedTo }: FirstStep,
): Promise<readonly Job[]> {
  const { realmId: realm, user, standing } = caller;
  const { from, to, mode, channelName } = move;
  const { rewrite, inOld, inNew } = options;
  const { channel, subscription } = seen;
  const { topic } = snapshot.left;
  await endEarlierMoves(outside, realm, [
    { ...from, seen: topic },
    { ...to, seen: snapshot.topic },
  ]);
  const going = others.filter(
    (other) =>
      (other.channelId !== to.channelId || other.topic !== to.topic) &&
      mayReadMessage(standing, seen, other.id),
  );
  const ids = [message.id, ...going.map(({ id }) => id)];
  const count = ids.length;
  /** The lowest id that the caller can read. */
  const floor = channel.historyPublicToSubscribers ? 0 : (subscription?.since ?? 0) + 1;
  const lowest = mode === 'change_all' ? floor : message.id;
  const isWhole = topic !== undefined && (hasMore ? oldest >= lowest : topic.arrived - topic.left === count);
  const moved = { by: user.userId, from, to, count, isWhole };
  const merges = snapshot.topic !== undefined;
  const policies = { from, to: { channelId: to.channelId, topic: to.topic }, merges };
  // After `change_all`, the caller can see nothing in the old topic. Another spelling is the same topic.
  const follows = (isWhole || mode === 'change_all') && !isSameTopic(from, to);
  // The step adds the senders; a job adds those who reacted.
  const leavesPeople = !isSameTopic(from, to) && (isReactedTo || count > 1 || snapshot.taking === undefined);
  const job = outside.uuid();
  const tasks = [
    ...(follows ? [taskOf(realm, outside.uuid(), 'policies', policies)] : []),
    ...(hasMore
      ? [taskOf(realm, job, 'move', { ...moved, mode, ids, lowest, channelName, inOld, inNew })]
      : []),
    ...(leavesPeople && !hasMore ? [taskOf(realm, outside.uuid(), 'people', { ids })] : []),
    ...(inOld && !hasMore ? [taskOf(realm, outside.uuid(), 'moved', moved)] : []),
  ];
  const places = {
    from: { channel, topic: from.topic },
    to: { channel: newChannel, topic: to.topic },
  };
  const notice = noticeInNew(user, { ...moved, ...places, isResolution: to.isResolution });
  const author = { actor: user, noticeBotId: caller.realm.noticeBotId };
  await commitStep(outside, commit, realm, move, {
    snapshot,
    main: message,
    rewrite,
    others: going,
    notBefore,
    notice: inNew && !hasMore ? noticeEntry(author, notice, now) : undefined,
    moving: hasMore ? job : undefined,
    more: (number) => tasks.map(({ write }) => write(number, now)),
  });
  return tasks.map((task) => task.job);
}

/** A job for the outbox, and the write that leaves it there. */
const taskOf = <K extends TaskKind>(realm: string, id: string, kind: K, task: Tasks[K]) => {
  const job: Job<K> = { realm, kind, job: id };
  return { job, write: (number: number, now: number): Write => doLeaveJob(job, number, task, now) };
};

/**
 * Refuses if a message of the topic that the caller can read is too old to be moved. The error has the number of those
 * that are not, so that clients can offer to move only them; to count them, it reads the whole topic.
 */
async function checkTopicMoveTime(
  outside: Outside,
  { realmId: realm }: Caller,
  { message, seen }: { message: MessageSlot; seen: ChannelWithSubscription },
  limit: number,
  now: number,
): Promise<void> {
  const { table } = outside;
  const { conversation, channelId } = message;
  const { channel, subscription } = seen;
  const from = channel.historyPublicToSubscribers ? 0 : (subscription?.since ?? 0) + 1;
  const recent = loadRecentChanges(outside, realm, extents.read);
  const place = { conversation, ...(channelId !== undefined && { channelId }) };
  const reach = currentMessages(table, realm, place, () => recent);
  const first = await reach({ from, to: LARGEST_NUMBER, side: 'newer', limit: FEW });
  const oldest = await loadMessages(
    table,
    realm,
    first.heads.map(({ id }) => id),
  );
  const here = oldest.filter((each) => each.conversation === conversation);
  const isKnown = here.length > 0 || first.until === undefined;
  if (isKnown && !here.some((each) => isTooOld(each, limit, now))) return;

  const ids = new Set<number>();
  for (let next: number | undefined = from; next !== undefined; ) {
    const { heads, until } = await reach({ from: next, to: LARGEST_NUMBER, side: 'newer', limit: MANY });
    for (const { id } of heads) ids.add(id);
    next = until === undefined ? undefined : until + 1;
  }
  const all = [...ids].sort((a, b) => a - b);
  const tooOld = await leading(all, async (id) => {
    const [found] = await loadMessages(table, realm, [id]);
    return found !== undefined && isTooOld(found, limit, now);
  });
  if (tooOld === 0) return;
  throw refusal('moveTimeLimit', {
    // The message of the request may be moved, so there is one.
    first: all[tooOld] ?? message.id,
    total: all.length,
    allowed: all.length - tooOld,
  });
}

/** Messages per read when a topic is counted. */
const MANY = 5_000;

/** The length of the leading part for which a test holds. It must hold for no item after that. */
async function leading(list: readonly number[], holds: (item: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (await holds(list[middle] as number)) low = middle + 1;
    else high = middle;
  }
  return low;
}
