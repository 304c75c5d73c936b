import { loadMessages } from '../../model/message/load.ts';
import type { Move } from './move.ts';

/*
 * A request moves as many messages as fit into one transaction. If there are more, the request moves only its own
 * message, and an outbox job moves the others in steps of one transaction each. The request's transaction creates the
 * job, so all of them arrive even if the request or a worker dies.
 *
 * Both topics are marked with the job until it is done. Another move from or to one of them finishes the job first, so
 * that successive moves have the same result as if each were atomic. Every step checks that the job still exists, so
 * that an overtaken run cannot move what someone has moved since.
 */

import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { carryOut } from '../../log/carry-out.ts';
import { ConflictError, commit } from '../../log/commit.ts';
import { retryOnConflict } from '../../log/retry-on-conflict.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { pruneParticipants } from '../../model/message/leave.ts';
import type { RangeResult } from '../../model/message/load.ts';
import { isSameTopic, topicConversation } from '../../model/message/message.ts';
import { currentMessages, extents, loadRecentChanges } from '../../model/message/recent.ts';
import { type Updated, updateEvent } from '../../model/message/revision.ts';
import { type Topic, topicKey } from '../../model/message/topic.ts';
import type { ChannelTopic } from '../../model/message/user-topic.ts';
import type { Key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import {
  doLeave,
  finish,
  type Job,
  type Left,
  loadJob,
  loadOutboxRun,
  type OutboxRun,
  outboxKey,
} from '../outbox/outbox.ts';
import { type MovedTask, tellMoved } from './moved.ts';
import { bringPeople, type PeopleTask } from './people.ts';
import { leavesPeople } from './senders.ts';
import { loadStep, oneStep, planStep, STEP } from './step.ts';

/** The job that moves the other messages. The number of the request's transaction is the `part` of the job. */
export interface RestTask extends Pick<Move, 'to' | 'mode'>, Pick<MovedTask, 'by' | 'from' | 'isWhole'> {
  /** The message that the request moved. */
  readonly main: number;
  /** The lowest id to move: the mover cannot read older ones, or did not select them. */
  readonly lowest: number;
  /** Name of the source channel. */
  readonly channelName: string;
  /** Whether to post notices in the old and the new topic when done. */
  readonly inOld: boolean;
  readonly inNew: boolean;
  /** How many messages have moved so far. */
  readonly count: number;
}

declare module '../outbox/outbox.ts' {
  interface Tasks {
    move: RestTask;
  }
}

type Rest = Left<'move'>;

/** A topic as it was read. */
export interface SeenTopic extends ChannelTopic {
  readonly seen: Topic | undefined;
}

/** How long one request works on earlier moves: its function may run for 28 s. */
const EARLIER_MOVES_TIMEOUT_MS = 15_000;

/**
 * Finishes earlier moves from or to one of these topics. Throws `ConflictError` if there was one, since what was read
 * with the topics is out of date then.
 */
export async function endEarlierMoves(
  outside: Outside,
  realm: string,
  places: readonly SeenTopic[],
): Promise<void> {
  const jobs = new Set(places.flatMap(({ seen }) => seen?.moving ?? []));
  if (jobs.size === 0) return;
  const ends = outside.now() + EARLIER_MOVES_TIMEOUT_MS;
  const world = await loadOutboxRun(outside, realm);
  for (const job of jobs) {
    const parts = await loadJob(outside.table, { realm, kind: 'move', job });
    if (parts.length === 0) await unmark(outside, realm, places, job);
    for (const part of parts) {
      if (world === undefined || !(await moveRest(world, part, ends)))
        throw badRequest('Messages of this topic are still being moved; try again in a moment.');
    }
  }
  throw new ConflictError([]);
}

/** Removes a stale mark. */
async function unmark(
  { table, uuid }: Outside,
  realm: string,
  places: readonly ChannelTopic[],
  moving: string,
): Promise<void> {
  for (const place of places) await table.transact([doUnmark(topicKey(realm, place), moving)], uuid());
}

/** Removes the mark of a job from a topic. Fails if the topic has another one. */
const doUnmark = (topic: Key, moving: string): Write => ({
  update: topic,
  change: { remove: ['moving'] },
  when: { absent: false, equals: { moving } },
});

/**
 * Moves the other messages and posts the notices. False if it is not done by `ends` (ms): another run goes on then.
 * Idempotent, also if two runs do it at once.
 */
export async function moveRest(world: OutboxRun, rest: Rest, ends: number): Promise<boolean> {
  const { outside, realmId } = world;
  await bringPeople(world, { ids: [rest.main] });
  if (!(await moveOthers(world, rest, ends))) return false;
  const [done] = await loadJob(outside.table, rest);
  // If the job is gone, another run has finished it.
  if (done !== undefined) {
    if (done.inNew) await tellMoved(world, done, 'new');
    if (done.inOld) await tellMoved(world, done, 'old');
    await retryOnConflict(outside, () => endMove(outside, realmId, done));
  }
  return true;
}

/**
 * Deletes the job and its marks in one transaction: a mark without its job would make the next mover search for it, and
 * a job without its mark could move what someone has moved since. Throws `ConflictError` if a topic has changed.
 */
async function endMove(outside: Outside, realm: string, done: Rest): Promise<void> {
  // If only the case changes, both are one topic.
  const places = isSameTopic(done.from, done.to) ? [done.from] : [done.from, done.to];
  const keys = places.map((place) => topicKey(realm, place));
  const topics = await Promise.all(keys.map((at) => outside.table.get(at)));
  const marked = keys.filter((_, i) => topics[i]?.moving === done.job);
  const { state } = await carryOut(outside, [
    { delete: outboxKey(done) },
    ...marked.map((topic) => doUnmark(topic, done.job)),
  ]);
  if (state === 'refused') throw new ConflictError([]);
}

/** False if the time ran out. */
async function moveOthers(world: OutboxRun, rest: Rest, ends: number): Promise<boolean> {
  const { outside, realmId: realm } = world;
  const { from, lowest, part: highest } = rest;
  const place = { channelId: from.channelId, conversation: topicConversation(from.channelId, from.topic) };
  for (let look = 1; ; look++) {
    const recent = await loadRecentChanges(outside, realm, extents.worker);
    const reach = currentMessages(outside.table, realm, place, async () => recent);
    for (let next: number | undefined = lowest; next !== undefined; ) {
      if (outside.now() > ends) return false;
      const { heads, until }: RangeResult = await reach({
        from: next,
        to: highest,
        side: 'newer',
        limit: STEP,
      });
      const ids = heads.map(({ id }) => id).sort((a, b) => a - b);
      if (!(await moveThese(world, rest, ids))) return true;
      next = until === undefined ? undefined : until + 1;
    }
    if (recent.isComplete || look === LOOKS) return true;
    await outside.wait(PAUSE);
  }
}

/** Retries, and the pause (ms) between them, if the log grows too fast to make up for a late index. */
const LOOKS = 10;
const PAUSE = 1_000;

/**
 * Moves those messages that are still in the topic, in as many steps as needed. False if no more can be moved.
 */
async function moveThese(world: OutboxRun, rest: Rest, ids: readonly number[]): Promise<boolean> {
  for (let open = ids; open.length > 0; ) {
    // A topic or message may change concurrently.
    const [isMoved, last] = await retryOnConflict(world.outside, async () => {
      const step = oneStep(await stillHere(world, rest, open));
      const id = step.at(-1)?.id;
      return [id === undefined || (await orOvertaken(world, rest, () => moveStep(world, rest, step))), id];
    });
    if (last === undefined) return true;
    if (!isMoved) return false;
    open = open.filter((id) => id > last);
  }
  return true;
}

/** The outcome of a step, or false if it failed because another run has done the job. */
async function orOvertaken(
  { outside: { table } }: OutboxRun,
  rest: Rest,
  step: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof ConflictError && (await loadJob(table, rest)).length === 0) return false;
    throw error;
  }
}

/** Those messages that are still in the topic, in rising order. */
async function stillHere(
  { outside: { table }, realmId }: OutboxRun,
  { from, to }: Rest,
  ids: readonly number[],
): Promise<MessageSlot[]> {
  const conversation = topicConversation(from.channelId, from.topic);
  const messages = await loadMessages(table, realmId, ids);
  return (
    messages
      .filter((message) => message.conversation === conversation)
      // If only the case changes, a moved message stays in its conversation.
      .filter(({ channelId, topic }) => channelId !== to.channelId || topic !== to.topic)
      .sort((a, b) => a.id - b.id)
  );
}

/**
 * Moves some of them in one transaction with their event. False if the target no longer takes them: all messages moved
 * before were deleted, and the channel now allows no named topics.
 */
async function moveStep(world: OutboxRun, rest: Rest, step: readonly MessageSlot[]): Promise<boolean> {
  const { outside, log, realmId: realm } = world;
  const { by, from, to, mode, channelName, at: now } = rest;
  const move: Move = { from, to, mode, userId: by };
  const snapshot = await loadStep(outside, realm, move, step);
  if (snapshot.topic === undefined && to.topic !== '' && snapshot.count?.onlyEmptyTopic === true)
    return false;
  const leaving = { ...from, ids: step.map(({ id }) => id) };
  const left = await pruneParticipants(outside.table, realm, leaving, snapshot.left, outside.uuid);
  const updated: Updated = { userId: by, now, relocation: to, mode, channelName };
  const people: PeopleTask = { ids: leaving.ids };
  const job: Job | undefined = leavesPeople(step, snapshot.reacted)
    ? { realm, kind: 'people', job: outside.uuid() }
    : undefined;
  const progress: Write = {
    update: outboxKey(rest),
    change: { add: { count: step.length } },
    when: { absent: false },
  };
  const { count, plan } = planStep(realm, move, {
    messages: step,
    snapshot: { ...snapshot, left },
    event: updateEvent(step[0] as MessageSlot, step, updated),
    now,
    moving: rest.job,
    left: (number) => [progress, ...(job ? [doLeave(job, number, people, outside.now())] : [])],
  });
  await commit(log, count, plan);
  if (job !== undefined) {
    await bringPeople(world, people);
    await finish(outside, await loadJob(outside.table, job));
  }
  return true;
}
