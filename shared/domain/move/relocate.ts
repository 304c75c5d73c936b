import type { Outside } from '../../kernel/outside.ts';
import type { Commit } from '../../log/bulk.ts';
import type { MessageHead } from '../../log/message.ts';
import { retryOnConflict } from '../../log/retry-on-conflict.ts';
import type { MessageSlot } from '../../log/slot.ts';
import type { ChannelWithSubscription } from '../../model/channel/access.ts';
import type { Channel } from '../../model/channel/channel.ts';
import { pruneParticipants } from '../../model/message/leave.ts';
import { isSameTopic, messageKey, unmoved } from '../../model/message/message.ts';
import { openTo } from '../../model/message/object.ts';
import type { Relocation } from '../../model/message/revision.ts';
import { type Updated, updateEvent } from '../../model/message/revision.ts';
import type { PoliciesTask } from '../../model/message/user-topic.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { Write } from '../../table/write.ts';
import type { Rewriting } from '../edit/rewrite.ts';
import { doLeave, type Job, type TaskKind, type Tasks } from '../outbox/outbox.ts';
import { noticeEntry } from '../send/notice.ts';
import { checkMove } from './check.ts';
import type { Move } from './move.ts';
import type { MovedTask } from './moved.ts';
import { type Moved, noticeInNew } from './notice.ts';
import type { PeopleTask } from './people.ts';
import { endEarlierMoves, type RestTask } from './rest.ts';
import { leavesPeople } from './senders.ts';
import { planStep, type Step } from './step.ts';
import { checkMoveTime, checkTopicMoveTime, moveLimit } from './time.ts';
import { goingAlong, loadTogether, lowestOf } from './together.ts';
import type { Relocating } from './update.ts';

declare module '../outbox/outbox.ts' {
  interface Tasks {
    policies: PoliciesTask;
  }
}

interface MoveContext {
  readonly caller: Caller;
  readonly outside: Outside;
  readonly commit: Commit;
  /** Milliseconds. */
  readonly now: number;
}

/** The options of a move. */
interface Manner {
  readonly mode: Move['mode'];
  readonly rewriting: Rewriting | undefined;
  /** Whether to post notices in the old and the new topic. */
  readonly inOld: boolean;
  readonly inNew: boolean;
}

/** A move that has passed all checks. */
interface Decided {
  readonly move: Move;
  readonly message: MessageSlot;
  readonly channels: { readonly from: Channel; readonly to: Channel };
  readonly manner: Manner;
  readonly updated: Updated;
  /** No message may be older than this (seconds since 1970); undefined if there is no limit. */
  readonly notBefore: number | undefined;
  /** The lowest id that the mover can read. */
  readonly floor: number;
}

/** The snapshot of the request's transaction. */
type Held = Pick<Relocating, 'snapshot' | 'others' | 'oldest' | 'first'>;

/**
 * Moves a message, and perhaps others of its topic, and posts the notices. Everything is checked before the first
 * message moves. They move in one transaction if they fit; else only the requested message moves, with its new content
 * if there is any, and an outbox job moves the others (`rest.ts`).
 *
 * Returns the jobs. Throws `ConflictError` if the snapshot has changed; then nothing has moved.
 */
export async function moveMessages(
  context: MoveContext,
  { message, seen }: { readonly message: MessageSlot; readonly seen: ChannelWithSubscription },
  relocating: Relocating,
  manner: Manner,
): Promise<readonly Job[]> {
  const { caller, outside, now } = context;
  const { target } = relocating;
  const { realmId: realm, user, standing } = caller;
  const { channel, subscription } = seen;
  const { mode } = manner;
  const from = { channelId: channel.channelId, topic: message.topic ?? '' };
  const open = openTo(channel);
  const to: Relocation = { ...relocating.to, ...(open && { openTo: open }) };
  const asked = { from: { channel, topic: from.topic }, to };
  const channels = { from: channel, to: checkMove(caller, asked, target, relocating.snapshot.topic) };
  const limit = moveLimit(caller, asked);
  if (limit !== undefined) checkMoveTime(message, limit, now);
  const move: Move = { from, to, mode, userId: user.userId };
  const decided: Decided = {
    move,
    message,
    channels,
    manner,
    updated: { userId: user.userId, now, relocation: to, mode, channelName: channel.name },
    notBefore: limit === undefined || mode !== 'change_all' ? undefined : Math.ceil(now / 1000 - limit),
    floor: channel.historyPublicToSubscribers ? 0 : (subscription?.since ?? 0) + 1,
  };

  const endEarlier = ({ snapshot }: Held): Promise<void> =>
    endEarlierMoves(outside, realm, [
      { ...from, seen: snapshot.left.topic },
      { ...to, seen: snapshot.topic },
    ]);
  const reload = async (): Promise<Held> => {
    // A message is not where the index showed it, or is too old: read them.
    if (limit !== undefined && mode === 'change_all')
      await checkTopicMoveTime(outside, caller, { message, seen }, limit, now);
    const held = await loadTogether(outside, realm, move, message);
    await endEarlier(held);
    return held;
  };
  await endEarlier(relocating);
  return retryOnConflict(
    outside,
    async (attempt) => {
      const held = attempt === 1 ? relocating : await reload();
      const isLast = attempt === MAX_ATTEMPTS;
      const others = held.others && goingAlong(held.others, move, standing, seen);
      return others && !isLast
        ? moveAtOnce(context, decided, held, others)
        : moveFirst(context, decided, held, isLast ? message : oldestOf(decided, held.oldest));
    },
    mode === 'change_one' ? 1 : MAX_ATTEMPTS,
  );
}

/** Attempts to move several messages at once. The last one leaves the others to the worker. */
const MAX_ATTEMPTS = 3;

/** The oldest known message that moves. */
const oldestOf = ({ message, floor }: Decided, oldest: readonly MessageHead[]): MessageHead =>
  oldest.find(({ id }) => id >= floor && id < message.id) ?? message;

/** Moves all of them, and posts the notice in their new topic, in one transaction. */
async function moveAtOnce(
  context: MoveContext,
  decided: Decided,
  { snapshot }: Held,
  others: readonly MessageHead[],
): Promise<readonly Job[]> {
  const { caller, now } = context;
  const { move, message, channels, manner, updated, notBefore } = decided;
  const { from, to, mode } = move;
  const messages = [...others, message].sort((a, b) => a.id - b.id);
  const stored = snapshot.left.topic;
  const count = messages.length;
  const isWhole = stored !== undefined && stored.arrived - stored.left === count;
  const moved: Moved = {
    from: { channel: channels.from, topic: from.topic },
    to: { channel: channels.to, topic: to.topic },
    count,
    isWhole,
    isResolution: to.isResolution,
  };
  const speaking = { actor: caller.user, noticeBotId: caller.realm.noticeBotId };
  const [first] = others;
  const movedTask: MovedTask = { by: move.userId, from, to, count, isWhole };
  const peopleTask: PeopleTask = { ids: messages.map(({ id }) => id) };
  return commitMove(context, decided, {
    step: {
      messages,
      snapshot,
      headsEvent: first && updateEvent(first, others, updated),
      notBefore,
      notice: manner.inNew ? noticeEntry(speaking, noticeInNew(caller.user, moved), now) : undefined,
    },
    // After `change_all`, the caller can see nothing in the old topic.
    follows: isWhole || mode === 'change_all',
    tasks: [
      ...(manner.inOld ? [{ kind: 'moved' as const, task: movedTask }] : []),
      ...(leavesPeople(messages, snapshot.reacted) ? [{ kind: 'people' as const, task: peopleTask }] : []),
    ],
    checks: [],
  });
}

/**
 * Moves the requested message, and leaves the others to the worker. If there is a time limit, checks that `oldest` is
 * not too old.
 */
async function moveFirst(
  context: MoveContext,
  decided: Decided,
  { snapshot, first }: Held,
  oldest: MessageHead,
): Promise<readonly Job[]> {
  const { caller, outside } = context;
  const { move, message, channels, manner, notBefore, floor } = decided;
  const { from, to, mode } = move;
  const begins = mode === 'change_all' ? floor : message.id;
  const isWhole = snapshot.left.topic !== undefined && first >= begins;
  const task: RestTask = {
    by: move.userId,
    from,
    to,
    mode,
    main: message.id,
    lowest: Math.max(floor, lowestOf(mode, message)),
    channelName: channels.from.name,
    isWhole,
    inOld: manner.inOld,
    inNew: manner.inNew,
    count: 1,
  };
  const job = outside.uuid();
  const checks: Write[] =
    notBefore === undefined || oldest.id === message.id
      ? []
      : [
          {
            check: messageKey(caller.realmId, oldest.id),
            when: { ...unmoved(oldest), above: { timestamp: notBefore - 1 } },
          },
        ];
  return commitMove(context, decided, {
    // The job adds the participants.
    step: {
      messages: [message],
      snapshot: { ...snapshot, taking: new Set([message.senderId]) },
      moving: job,
    },
    follows: isWhole || mode === 'change_all',
    tasks: [{ kind: 'move', task, job }],
    checks,
  });
}

/** The content of the request's transaction. */
interface Batch {
  readonly step: Omit<Step, 'event' | 'now' | 'rewrite'>;
  /** Whether topic policies follow. */
  readonly follows: boolean;
  /** The jobs for the outbox worker. */
  readonly tasks: readonly {
    readonly kind: TaskKind;
    readonly task: Tasks[TaskKind];
    readonly job?: string;
  }[];
  readonly checks: readonly Write[];
}

/** Commits the request's transaction. Returns its jobs. */
async function commitMove(
  { caller, outside, commit, now }: MoveContext,
  { move, message, manner, updated }: Decided,
  batch: Batch,
): Promise<readonly Job[]> {
  const { table, uuid } = outside;
  const { realmId: realm } = caller;
  const { from, to } = move;
  const { snapshot, messages } = batch.step;
  const ids = messages.map(({ id }) => id);
  const left = isSameTopic(from, to)
    ? snapshot.left
    : await pruneParticipants(table, realm, { ...from, ids }, snapshot.left, uuid);
  const rewrite = manner.rewriting?.rewrite;
  const step: Step = {
    ...batch.step,
    snapshot: { ...snapshot, left },
    event: updateEvent(message, [message], { ...updated, rewrite }),
    now,
    rewrite,
  };
  const policiesTask: PoliciesTask = {
    from,
    to: { channelId: to.channelId, topic: to.topic },
    merges: snapshot.topic !== undefined,
  };
  // Another spelling is the same topic.
  const follows = batch.follows && !isSameTopic(from, to);
  const tasks = [...(follows ? [{ kind: 'policies' as const, task: policiesTask }] : []), ...batch.tasks].map(
    ({ kind, task, job = uuid() }: Batch['tasks'][number]) => ({ job: { realm, kind, job }, task }),
  );
  const leave = (number: number): Write[] => tasks.map(({ job, task }) => doLeave(job, number, task, now));
  const { count, plan } = planStep(realm, move, { ...step, checks: batch.checks, left: leave });
  await commit(count, plan);
  return tasks.map(({ job }) => job);
}
