import { Stale } from '../../log/commit.ts';
import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot } from '../../log/slot.ts';
import type { Write } from '../../table/write.ts';
import type { Commit } from '../bulk.ts';
import type { Caller } from '../caller.ts';
import type { Channel } from '../channel/channel.ts';
import type { Seen } from '../channel/channel-access.ts';
import type { Target } from '../fetch/message-target.ts';
import { doLeave, type Job } from '../outbox/outbox.ts';
import type { Outside } from '../outside.ts';
import { loadPolicies, movePolicies, type Policies, type PoliciesTask } from '../topic/policy-move.ts';
import { thinOut } from '../topic/topic-leave.ts';
import { noticeEntry } from '../topic/topic-notice.ts';
import { topicConversation } from './conversation.ts';
import { doRevise, type Rewrite } from './message-revision.ts';
import { newFollowers, type RewriteGround } from './message-rewrite.ts';
import type { Relocating } from './message-update.ts';
import { checkMove, isResolved } from './move-check.ts';
import { type Moved, noticeInNew } from './move-notice.ts';
import { LONGEST, moveOthers } from './move-others.ts';
import { leavesPeople } from './move-people.ts';
import {
  loadStep,
  type Move,
  mergesInto,
  planStep,
  roomBeside,
  type Step,
  type StepGround,
} from './move-step.ts';
import { checkMoveTime, checkTopicMoveTime, moveLimit } from './move-time.ts';
import { goingAlong } from './move-together.ts';
import type { MovedTask } from './moved-notice.ts';
import type { PeopleTask } from './moved-people.ts';
import { type Updated, updateEvent } from './update-event.ts';

/** New content that was decided on. */
export interface Rewriting {
  readonly rewrite: Rewrite;
  readonly ground: RewriteGround;
}

/** Changes the content of a message, in one transaction. */
export async function rewriteMessage(
  { caller, commit, now }: { readonly caller: Caller; readonly commit: Commit; readonly now: number },
  { message, seen }: Target,
  { rewrite, ground }: Rewriting,
): Promise<void> {
  const { realmId: realm, user } = caller;
  const { userId } = user;
  const followers = newFollowers(realm, message, rewrite, ground, now);
  const channelName = seen?.channel.name;
  const event = updateEvent(message, [message], { userId, now, rewrite, channelName });
  await commit(followers.entries.length + 1, (numbers) => ({
    writes: [
      ...doRevise(realm, message, { seq: numbers.at(-1) as number, userId, now, rewrite }),
      ...followers.writes,
    ],
    entries: [...followers.entries, event],
    result: undefined,
  }));
}

interface MoveContext {
  readonly caller: Caller;
  readonly outside: Outside;
  readonly commit: Commit;
  readonly now: number;
}

/** How messages are to be moved. */
interface Manner {
  readonly mode: Move['mode'];
  readonly rewriting: Rewriting | undefined;
  /** Whether the old topic and the new one are told of it. */
  readonly inOld: boolean;
  readonly inNew: boolean;
}

/** A move that was decided on, and what is told of it. */
interface Decided {
  readonly move: Move;
  readonly message: MessageSlot;
  readonly channels: { readonly from: Channel; readonly to: Channel };
  /** The target had messages of its own before. */
  readonly merges: boolean;
  readonly manner: Manner;
  readonly updated: Updated;
}

/**
 * Moves a message, and perhaps others of its topic with it, and tells both topics of it. All is decided before the
 * first of them moves. They go in one transaction where that has room for them; else the message that was asked for
 * moves last, with its new content if it gets any.
 *
 * Tells what it leaves to the worker of the outbox.
 */
export async function moveMessages(
  context: MoveContext,
  { message, seen }: { readonly message: MessageSlot; readonly seen: Seen },
  relocating: Relocating,
  manner: Manner,
): Promise<readonly Job[]> {
  const { caller, outside, commit, now } = context;
  const { table } = outside;
  const { to, target, ground, policies } = relocating;
  const { realmId: realm, user, standing } = caller;
  const { channel } = seen;
  const { mode } = manner;
  const from = { channelId: channel.channelId, topic: message.topic ?? '' };
  const asked = { from: { channel, topic: from.topic }, to };
  const channels = { from: channel, to: checkMove(caller, asked, target, ground.topic) };
  const limit = moveLimit(caller, asked);
  if (limit !== undefined) checkMoveTime(message, limit, now);

  const ends = outside.now() + LONGEST;
  const move: Move = { from, to, mode, userId: user.userId };
  const updated: Updated = { userId: user.userId, now, relocation: to, mode, channelName: channel.name };
  const merges = mergesInto(move, ground.topic);
  const decided: Decided = { move, message, channels, merges, manner, updated };
  if (relocating.others !== undefined) {
    const others = goingAlong(relocating.others, move, standing, seen);
    const notBefore =
      limit === undefined || mode !== 'change_all' ? undefined : Math.ceil(now / 1000 - limit);
    try {
      return await moveLast(context, decided, { others, notBefore, before: 0, ground, policies });
    } catch (error) {
      if (others.length === 0 || !(error instanceof Stale)) throw error;
      // One of them is not where its index showed it, or is too old: it takes a look at each of them to tell.
    }
  }
  if (limit !== undefined && mode === 'change_all') {
    await checkTopicMoveTime(outside, caller, { message, seen, ground }, limit, now);
  }
  const left: Job[] = [];
  const before = await moveOthers(
    {
      outside,
      caller,
      commit,
      seen,
      move,
      ends,
      left,
      event: (messages) => updateEvent(messages[0] ?? message, messages, updated),
    },
    message,
  );
  const [last, stillHeld] = await Promise.all([
    loadStep(table, realm, move, [message]),
    loadPolicies(table, realm, { from, to }),
  ]);
  const jobs = await moveLast(context, decided, { others: [], before, ground: last, policies: stillHeld });
  return [...left, ...jobs];
}

/** The transaction with which a move is done. */
interface Last {
  /** Messages that go in it, besides the one that was asked for. */
  readonly others: readonly MessageHead[];
  /** None of those is older than this, seconds since 1970. */
  readonly notBefore?: number | undefined;
  /** How many went before. */
  readonly before: number;
  readonly ground: StepGround;
  readonly policies: Policies;
}

async function moveLast(
  { caller, outside, commit, now }: MoveContext,
  { move, message, channels, merges, manner, updated }: Decided,
  { others, notBefore, before, ground, policies }: Last,
): Promise<readonly Job[]> {
  const { table, uuid } = outside;
  const { realmId: realm, user } = caller;
  const { from, to, mode } = move;
  const { rewriting, inOld, inNew } = manner;
  const messages = [...others, message].sort((a, b) => a.id - b.id);
  const ids = messages.map(({ id }) => id);
  const staysInTopic = message.conversation === topicConversation(to.channelId, to.topic);
  const left = staysInTopic ? ground.left : await thinOut(table, realm, { ...from, ids }, ground.left, uuid);
  const rewrite = rewriting?.rewrite;
  const stored = ground.left.topic;
  const isWhole = stored !== undefined && stored.arrived - stored.left === messages.length;
  const count = before + messages.length;
  const moved: Moved = {
    from: { channel: channels.from, topic: from.topic },
    to: { channel: channels.to, topic: to.topic },
    count,
    isWhole,
    ...(to.isResolution && { resolution: isResolved(to.topic) ? 'resolved' : 'unresolved' }),
  };
  const speaking = { actor: user, noticeBotId: caller.realm.noticeBotId };
  const [first] = others;
  const step: Step = {
    messages,
    ground: { ...ground, left },
    headsEvent: first && updateEvent(first, others, updated),
    notBefore,
    event: updateEvent(message, [message], { ...updated, rewrite }),
    now,
    rewrite,
    notice: inNew ? noticeEntry(speaking, noticeInNew(user, moved), now) : undefined,
  };
  // What is left of the topic after `change_all` is nothing that the caller can see.
  const follows = isWhole || mode === 'change_all';
  const places = { from, to: { channelId: to.channelId, topic: to.topic } };
  const room = roomBeside(planStep(realm, move, { ...step, last: NOTHING })) - MOST_LEFT;
  const beside = follows
    ? movePolicies(realm, user.userId, { ...places, merges }, policies, room, now)
    : { ...NOTHING, others: false };
  const policiesTask: PoliciesTask = { ...places, merges };
  const movedTask: MovedTask = { by: user.userId, ...places, count, isWhole };
  const peopleTask: PeopleTask = { ids };
  const tasks = [
    ...(beside.others ? [{ kind: 'policies' as const, task: policiesTask }] : []),
    ...(inOld ? [{ kind: 'moved' as const, task: movedTask }] : []),
    ...(leavesPeople(messages) ? [{ kind: 'people' as const, task: peopleTask }] : []),
  ].map(({ kind, task }) => ({ job: { realm, kind, job: uuid() }, task }));
  const leave = (number: number): Write[] => tasks.map(({ job, task }) => doLeave(job, number, task, now));
  const planned = planStep(realm, move, { ...step, last: beside, left: leave });
  await commit(planned.count, planned.plan);
  return tasks.map(({ job }) => job);
}

const NOTHING = { writes: [], entries: [] };

/** Most tasks that a move leaves: policies, a notice, and people. */
const MOST_LEFT = 3;
