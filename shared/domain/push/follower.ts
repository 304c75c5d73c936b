/**
 * How push notifications follow what happens in an organization, so that nothing is lost and nothing doubled.
 *
 * The log is the truth: whatever was committed is in it, in order, for every reader. The follower is a reader like a
 * client's queue, with a cursor and the people who have devices in one item, which is there only while somebody has
 * one. To go on, a run reads the log after the cursor, decides what people must perhaps be told, and moves the cursor
 * in the same transaction that puts the jobs for it (`push-job.ts`). Of two runs at once one moves it, and the other
 * looks again. So a sender only has to wake the worker after its commit, which costs the send no write and no round
 * trip; where that gets lost, the sweep sees that something stands behind the cursor.
 *
 * That somebody has read what they were notified of is in the log too, as the event that tells their clients.
 */

import { carryOut } from '../../log/carry-out.ts';
import { type FirstSeen, readRun } from '../../log/run.ts';
import type { ReadEntry, ReadEvent } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import { isRefused } from '../../table/outcome.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { audienceOf } from './audience.ts';
import { newJob, type PushJob, putJob } from './push-job.ts';
import type { PushWorld } from './push-world.ts';
import { doForgetPushed, loadPushed } from './pushed.ts';

/** The follower of an organization, as stored. */
export interface Follower {
  /** Everything up to here has been seen to. */
  readonly cursor: number;
  /** People who have devices, and perhaps some who have none any more. */
  readonly holders?: ReadonlySet<number>;
  /** Grows when somebody comes to have a device, so that taking people out can be held to what it saw. */
  readonly version: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    pushFollower: Follower;
  }
}

export const loadFollower = (table: Table, realm: string): Promise<Follower | undefined> =>
  table.get('pushFollower', { realm });

/** People of one job: it is one request, whose devices the relay takes at once. */
const PEOPLE = 50;
/** Entries of the log that are looked into at once. */
const WIDTH = 20;
/** Writes of one step at most, the cursor's besides: a transaction takes a hundred. */
const FULL = 90;
/** Between two looks (ms) at a log whose end is being written. */
const PAUSE = 100;
/** What must be left (ms) of a run's time to look again. */
const MARGIN = 10_000;

/** Part of the way along the log: up to where, and what is to be done because of it. */
interface Step {
  readonly head: number;
  readonly jobs: readonly PushJob[];
  readonly writes: readonly Write[];
}

/** Follows the log to its end, and has the jobs done that come of it. */
export async function follow(
  world: PushWorld,
  onJobs: (jobs: readonly PushJob[]) => Promise<void>,
): Promise<void> {
  const { outside, realm, log, deadline } = world;
  const firstSeen: FirstSeen = new Map();
  while (outside.now() < deadline - MARGIN) {
    const follower = await loadFollower(outside.table, realm);
    if (follower === undefined) return;
    const { entries, head, ended } = await readRun(log, follower.cursor, firstSeen);
    if (head > follower.cursor) {
      const step = await planStep(world, follower, entries, head);
      if (await advance(world, follower, step)) await onJobs(step.jobs);
    } else if (ended === 'end') return;
    else await outside.wait(PAUSE);
  }
}

/** Decides what is to be done because of these entries, as many of them as one step takes. */
async function planStep(
  world: PushWorld,
  { holders = new Set() }: Follower,
  entries: readonly ReadEntry[],
  end: number,
): Promise<Step> {
  const jobs: PushJob[] = [];
  const read = new Map<number, ReadEvent[]>();
  const head = await (async () => {
    for (let start = 0; start < entries.length; start += WIDTH) {
      const some = entries.slice(start, start + WIDTH);
      const found = await Promise.all(some.map((entry) => messageJobs(world, holders, entry)));
      for (const [i, entry] of some.entries()) {
        const own = found[i] ?? [];
        const reader = readerOf(entry);
        // A removal is two writes: the job, and that the notifications are forgotten.
        const size = jobs.length + own.length + 2 * (read.size + (reader === undefined ? 0 : 1));
        if (size > FULL && jobs.length + read.size > 0) return entry.seq - 1;
        jobs.push(...own);
        if (entry.kind !== 'event' || reader === undefined || !holders.has(reader)) continue;
        read.set(reader, [...(read.get(reader) ?? []), entry]);
      }
    }
    return end;
  })();
  const removals = await Promise.all([...read].map(([userId, events]) => removal(world, userId, events)));
  return {
    head,
    jobs: [...jobs, ...removals.flatMap((each) => each?.job ?? [])],
    writes: removals.flatMap((each) => each?.write ?? []),
  };
}

/** Jobs for those who may want to be notified of a message. */
async function messageJobs(
  { outside, realm }: PushWorld,
  holders: ReadonlySet<number>,
  entry: ReadEntry,
): Promise<PushJob[]> {
  if (entry.kind !== 'message' || entry.isDeleted) return [];
  const jobOf = (users: readonly number[], part: number): PushJob =>
    newJob({ kind: 'message', messageId: entry.id, users }, `message-${entry.id}-${part}`, entry.at);
  if (jobOf([], 0).until <= outside.now()) return [];
  const users = await audienceOf(outside.table, realm, entry, holders);
  const size = Math.max(PEOPLE, Math.ceil(users.length / FULL));
  return Array.from({ length: Math.ceil(users.length / size) }, (_, i) =>
    jobOf(users.slice(i * size, (i + 1) * size), i),
  );
}

/** Who has read messages, if the entry tells that somebody has. */
function readerOf(entry: ReadEntry): number | undefined {
  if (entry.kind !== 'event' || !('users' in entry.hearers) || 'message' in entry.hearers) return undefined;
  const { type, op, flag } = entry.payload;
  return type === 'update_message_flags' && op === 'add' && flag === 'read'
    ? entry.hearers.users[0]
    : undefined;
}

/** A job that takes notifications away again, and the write that forgets them. */
async function removal(
  { outside, realm }: PushWorld,
  userId: number,
  events: readonly ReadEvent[],
): Promise<{ readonly job: PushJob; readonly write: Write } | undefined> {
  const shown = await loadPushed(outside.table, realm, userId);
  const read = new Set(events.flatMap(({ payload }) => payload.messages as number[]));
  const ids = [...shown].filter((id) => read.has(id)).sort((a, b) => a - b);
  const last = events.at(-1);
  if (ids.length === 0 || last === undefined) return undefined;
  const job = newJob({ kind: 'remove', userId, ids }, `remove-${last.seq}-${userId}`, last.at);
  return { job, write: doForgetPushed(realm, userId, ids) };
}

/** Moves the cursor and puts the jobs; false where somebody else moved it, who then did the same. */
async function advance({ outside, realm }: PushWorld, { cursor }: Follower, step: Step): Promise<boolean> {
  const at = key('pushFollower', { realm });
  const change = { set: { cursor: step.head } };
  const when = { equals: { cursor } };
  if (step.jobs.length > 0) {
    const puts = step.jobs.map((job) => putJob(realm, job));
    const writes = [{ update: at, change, when }, ...puts, ...step.writes];
    return (await carryOut(outside, writes)).state === 'done';
  }
  try {
    await outside.table.update(at, change, when);
    return true;
  } catch (error) {
    if (!isRefused(error)) throw error;
    return false;
  }
}
