import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { chunksOf } from '../../lists.ts';
import { carryOutUnchanged } from '../../log/carry-out.ts';
import { ConflictError, commit, retryOnConflict } from '../../log/commit.ts';
import { isSameTopic, topicConversation } from '../../model/message/message.ts';
import { currentMessages, extents, loadRecentChanges } from '../../model/message/recent.ts';
import { type Topic, topicKey } from '../../model/message/topic.ts';
import type { ChannelTopic } from '../../model/message/user-topic.ts';
import type { Key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { type Job, type Left, loadJob, loadOutboxRun, type OutboxRun, outboxKey } from '../outbox/outbox.ts';
import { type MovedTask, postMoveNotice } from './notice.ts';
import { addParticipants, type PeopleTask } from './people.ts';
import { commitStep, loadStep, loadUnmoved, type Move, STEP } from './step.ts';

/*
 * The job that does the steps after the first one. The transaction of the first step creates it, so all messages arrive
 * even if the request or a worker dies.
 *
 * Both topics are marked with the job until it is done. Another move from or to one of them finishes the job first, so
 * that successive moves have the same result as if each were atomic. Every step checks that the job still exists, so
 * that an overtaken run cannot move what someone has moved since.
 */

/** The job that moves the other messages. The number of the first step is the `part` of the job. */
export interface RestTask extends Pick<Move, 'to' | 'mode' | 'channelName'>, Omit<MovedTask, 'to'> {
  /** The messages of the last step, whose participants may not be added yet. */
  readonly ids?: readonly number[];
  readonly main?: number;
  /** The lowest id to move: the mover cannot read older ones, or did not select them. */
  readonly lowest: number;
  /** Whether to post notices in the old and the new topic when done. `count` is how many messages have moved so far. */
  readonly inOld: boolean;
  readonly inNew: boolean;
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
    if (parts.length === 0) {
      // The operator has given up the job.
      for (const place of places)
        await outside.table.transact([doUnmark(topicKey(realm, place), job)], outside.uuid());
    }
    for (const part of parts) {
      if (world === undefined || !(await moveRest(world, part, ends)))
        throw badRequest('Messages of this topic are still being moved; try again in a moment.');
    }
  }
  throw new ConflictError([]);
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
  if (!(await moveOthers(world, rest, ends))) return false;
  const [done] = await loadJob(outside.table, rest);
  // If the job is gone, another run has finished it.
  if (done !== undefined) {
    await addParticipants(world, lastStep(done));
    if (done.inNew) await postMoveNotice(world, done, 'new');
    if (done.inOld) await postMoveNotice(world, done, 'old');
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
  await carryOutUnchanged(outside, [
    { delete: outboxKey(done) },
    ...marked.map((topic) => doUnmark(topic, done.job)),
  ]);
}

/** Retries, and the pause (ms) between them, if the log grows too fast to make up for a late index. */
const LOOKS = 10;
const PAUSE = 1_000;

/** False if the time ran out. */
async function moveOthers(world: OutboxRun, rest: Rest, ends: number): Promise<boolean> {
  const { outside, realmId: realm } = world;
  const { from, lowest, part: highest } = rest;
  const place = { channelId: from.channelId, conversation: topicConversation(from.channelId, from.topic) };
  for (let look = 1; ; look++) {
    const recent = await loadRecentChanges(outside, realm, extents.worker);
    const reach = currentMessages(outside.table, realm, place, async () => recent);
    for (let next: number | undefined = lowest; next !== undefined; ) {
      const { heads, until } = await reach({ from: next, to: highest, side: 'newer', limit: STEP });
      const ids = heads.map(({ id }) => id).sort((a, b) => a - b);
      for (const some of chunksOf(ids, STEP)) {
        if (outside.now() > ends) return false;
        // A topic or message may change concurrently.
        if (!(await retryOnConflict(outside, () => moveStep(world, rest, some)))) return true;
      }
      next = until === undefined ? undefined : until + 1;
    }
    if (recent.isComplete || look === LOOKS) return true;
    await outside.wait(PAUSE);
  }
}

/**
 * Moves those of the messages that are still in the topic, in one step. False if no more can be moved: another run has
 * done the job, or all messages moved before were deleted and the target channel now allows no named topics.
 */
async function moveStep(world: OutboxRun, job: Job<'move'>, some: readonly number[]): Promise<boolean> {
  const { outside, log, realmId: realm } = world;
  const [rest] = await loadJob(outside.table, job);
  if (rest === undefined) return false;
  const move: Move = { ...rest, userId: rest.by, now: rest.at };
  const [others, snapshot] = await Promise.all([
    loadUnmoved(outside.table, realm, move, some),
    loadStep(outside, realm, move, some.length),
    // The job remembers only the messages of its last step.
    addParticipants(world, lastStep(rest)),
  ]);
  if (others.length === 0) return true;
  if (snapshot.topic === undefined && move.to.topic !== '' && snapshot.count?.onlyEmptyTopic === true)
    return false;
  const ids = others.map(({ id }) => id);
  const progress: Write = {
    update: outboxKey(rest),
    change: { set: { ids }, add: { count: ids.length } },
    when: { absent: false, equals: { count: rest.count } },
  };
  await commitStep(outside, (count, plan) => commit(log, count, plan), realm, move, {
    snapshot,
    others,
    moving: rest.job,
    more: () => [progress],
  });
  return true;
}

/** The messages of the last step. Earlier releases stored one of them as `main`. */
const lastStep = ({ ids, main }: Rest): PeopleTask => ({ ids: ids ?? [main ?? 0] });
