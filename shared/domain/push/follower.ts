/**
 * How push notifications follow the log of an organization without losing or repeating any.
 *
 * Whatever was committed is in the log, in the same order for every reader. The follower reads it like a client's event
 * queue. One item holds its cursor and the users with devices; it exists only while somebody has a device. A run reads
 * the log after the cursor, decides who may need a notification, and moves the cursor in the transaction that stores
 * the jobs (`job.ts`). If two runs meet, one moves the cursor and the other reads again. A sender only wakes the worker
 * after its commit, which costs no write and no round trip. If that message is lost, the sweep finds entries behind the
 * cursor.
 *
 * Reads are in the log too, as the events for the reader's clients: they take notifications away again.
 */

import { folded } from '../../kernel/text.ts';
import { carryOut } from '../../log/carry-out.ts';
import { type FirstSeen, logOf, readRun } from '../../log/log.ts';
import type { MessageSlot, ReadEntry, ReadEvent } from '../../log/slot.ts';
import { loadTopicPolicies, visibility } from '../../model/message/user-topic.ts';
import { loadSubscriberIds } from '../../model/subscription/object.ts';
import { key } from '../../table/keys.ts';
import { ignoreRefused } from '../../table/outcome.ts';
import type { Table } from '../../table/table.ts';
import { hasVersion, type Write } from '../../table/write.ts';
import { isActiveDevice, loadDevices } from './device.ts';
import { newJob, type PushJob, type PushRun, putJob } from './job.ts';
import { doForgetPushed, loadPushed } from './notice.ts';

/** The follower of an organization, as stored. */
export interface Follower {
  /** Entries up to this number are done. */
  readonly cursor: number;
  /** Users with devices. Some may have none any more. */
  readonly holders?: ReadonlySet<number>;
  /** Incremented when somebody gets a device, so that a concurrent removal fails. */
  readonly version: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    pushFollower: Follower;
  }
}

/** Users of one job. It is one request, with as many devices as the relay takes at once. */
const JOB_USERS = 50;
/** Most entries of one step. */
const MAX_ENTRIES = 20;
/** Most writes of one step, without that of the cursor: a transaction takes a hundred. */
const MAX_WRITES = 90;
/** Pause (ms) before reading again while the end of the log is being written. */
const PAUSE_MS = 100;
/** Time (ms) that a run needs to read once more. */
const MARGIN_MS = 10_000;

export const loadFollower = (table: Table, realm: string): Promise<Follower | undefined> =>
  table.get('pushFollower', { realm });

/** Adds a user with a device: from this number on the log is followed for them, and changes wake the worker. */
export const subscribePush = (realm: string, userId: number, seq: number): Write[] => [
  {
    update: key('pushFollower', { realm }),
    change: { setOnce: { cursor: seq }, add: { holders: new Set([userId]), version: 1 } },
  },
  { update: key('realm', { realm }), change: { set: { hasPushDevices: true } }, when: { absent: false } },
];

/**
 * Removes users who have no device any more, and with the last one the follower, so that sends cost nothing again. Does
 * nothing if somebody gets a device meanwhile: a later call makes up for it.
 */
export async function unsubscribePush(run: PushRun, userIds: readonly number[]): Promise<void> {
  const { outside, realm } = run;
  const { table } = outside;
  const follower = await loadFollower(table, realm);
  if (follower === undefined) return;
  const devices = await Promise.all(userIds.map((userId) => loadDevices(table, realm, userId)));
  const gone = userIds.filter(
    (userId, i) => follower.holders?.has(userId) && !devices[i]?.some(isActiveDevice),
  );
  if (gone.length === 0) return;
  const at = key('pushFollower', { realm });
  const change = { take: { holders: new Set(gone) }, add: { version: 1 } };
  const left = await table.update(at, change, hasVersion(follower.version)).catch(ignoreRefused);
  if (left === undefined || left.holders !== undefined) return;
  await carryOut(outside, [
    { delete: at, when: { equals: { version: left.version, holders: undefined } } },
    { update: key('realm', { realm }), change: { remove: ['hasPushDevices'] }, when: { absent: false } },
  ]);
}

/** One step along the log: how far, and the jobs and writes that follow from it. */
interface Step {
  readonly head: number;
  readonly jobs: readonly PushJob[];
  readonly writes: readonly Write[];
}

/** Follows the log to its end. Calls `onJobs` with the jobs of each step after storing them. */
export async function follow(
  run: PushRun,
  onJobs: (jobs: readonly PushJob[]) => Promise<void>,
): Promise<void> {
  const { outside, realm, deadline } = run;
  const firstSeen: FirstSeen = new Map();
  while (outside.now() < deadline - MARGIN_MS) {
    const follower = await loadFollower(outside.table, realm);
    if (follower === undefined) return;
    const { entries, head, ended } = await readRun(logOf(outside, realm), follower.cursor, firstSeen);
    if (head > follower.cursor) {
      const step = await planStep(run, follower, entries, head);
      if (await advance(run, follower, step)) await onJobs(step.jobs);
    } else if (ended === 'end') return;
    else await outside.wait(PAUSE_MS);
  }
}

/** Plans one step: some of these entries, as many as fit into one transaction. `end` is the end of all of them. */
async function planStep(
  run: PushRun,
  { holders = new Set() }: Follower,
  entries: readonly ReadEntry[],
  end: number,
): Promise<Step> {
  const some = entries.slice(0, MAX_ENTRIES);
  const messages = await Promise.all(some.map((entry) => messageJobs(run, holders, entry)));
  let head = some.length < entries.length ? (some.at(-1)?.seq ?? end) : end;
  const jobs: PushJob[] = [];
  const read = new Map<number, ReadEvent[]>();
  for (const [i, entry] of some.entries()) {
    const own = messages[i] ?? [];
    const reader = readerOf(entry);
    // A removal is two writes: its job, and forgetting the notifications.
    const size = jobs.length + own.length + 2 * (read.size + (reader === undefined ? 0 : 1));
    if (size > MAX_WRITES && jobs.length + read.size > 0) {
      head = entry.seq - 1;
      break;
    }
    jobs.push(...own);
    if (entry.kind !== 'event' || reader === undefined || !holders.has(reader)) continue;
    read.set(reader, [...(read.get(reader) ?? []), entry]);
  }
  const removals = await Promise.all([...read].map(([userId, events]) => removal(run, userId, events)));
  return {
    head,
    jobs: [...jobs, ...removals.flatMap((each) => each?.job ?? [])],
    writes: removals.flatMap((each) => each?.write ?? []),
  };
}

/** The jobs that notify users of a message. */
async function messageJobs(
  { outside, realm }: PushRun,
  holders: ReadonlySet<number>,
  entry: ReadEntry,
): Promise<PushJob[]> {
  if (entry.kind !== 'message' || entry.isDeleted) return [];
  const jobOf = (users: readonly number[], part: number): PushJob =>
    newJob({ kind: 'message', messageId: entry.id, users }, `message-${entry.id}-${part}`, entry.at);
  if (jobOf([], 0).until <= outside.now()) return [];
  const users = await loadCandidates(outside.table, realm, entry, holders);
  const size = Math.max(JOB_USERS, Math.ceil(users.length / MAX_WRITES));
  return Array.from({ length: Math.ceil(users.length / size) }, (_, i) =>
    jobOf(users.slice(i * size, (i + 1) * size), i),
  );
}

/**
 * The users with devices who may need a notification of a message: everybody in a direct conversation; in a channel
 * those who follow the topic or are mentioned. The job decides for each of them. Reads grow with the followers of the
 * topic, and for mentions of a group, topic or channel with its members.
 */
async function loadCandidates(
  table: Table,
  realm: string,
  { senderId, people, channelId = 0, topic = '', mentions = {} }: MessageSlot,
  holders: ReadonlySet<number>,
): Promise<number[]> {
  const hasGroupMention = mentions.channel === true || (mentions.groups?.length ?? 0) > 0;
  const loadFollowers = async () =>
    (await loadTopicPolicies(table, realm, { channelId, topic })).filter(
      ({ policy }) => policy === visibility.followed,
    );
  const loadParticipants = () => table.all('participant', { realm, channelId, topic: folded(topic) });
  const ids = people ?? [
    ...(mentions.users ?? []),
    ...(
      await Promise.all([
        loadFollowers().then(idsOf),
        hasGroupMention ? loadSubscriberIds(table, realm, channelId) : [],
        mentions.topic ? loadParticipants().then(idsOf) : [],
      ])
    ).flat(),
  ];
  return [...new Set(ids)]
    .filter((userId) => userId !== senderId && holders.has(userId))
    .sort((a, b) => a - b);
}

const idsOf = (items: readonly { readonly userId: number }[]): number[] => items.map(({ userId }) => userId);

/** The user who read messages, if the entry is an event about that. */
function readerOf(entry: ReadEntry): number | undefined {
  if (entry.kind !== 'event' || !('users' in entry.hearers) || 'message' in entry.hearers) return undefined;
  const { type, op, flag } = entry.payload;
  return type === 'update_message_flags' && op === 'add' && flag === 'read'
    ? entry.hearers.users[0]
    : undefined;
}

/** The job that removes notifications of read messages from devices, and the write that forgets them. */
async function removal(
  { outside, realm }: PushRun,
  userId: number,
  events: readonly ReadEvent[],
): Promise<{ readonly job: PushJob; readonly write: Write } | undefined> {
  const shown = await loadPushed(outside.table, realm, userId);
  const read = new Set(events.flatMap(({ payload }) => payload.messages as number[]));
  const allBelow = Math.max(0, ...events.flatMap(({ payload, seq }) => (payload.all === true ? seq : [])));
  const ids = [...shown].filter((id) => read.has(id) || id < allBelow).sort((a, b) => a - b);
  const last = events.at(-1);
  if (ids.length === 0 || last === undefined) return undefined;
  const job = newJob({ kind: 'remove', userId, ids }, `remove-${last.seq}-${userId}`, last.at);
  return { job, write: doForgetPushed(realm, userId, ids) };
}

/** Moves the cursor and stores the jobs. False if another run moved it, which then stored the same jobs. */
async function advance({ outside, realm }: PushRun, { cursor }: Follower, step: Step): Promise<boolean> {
  const at = key('pushFollower', { realm });
  const change = { set: { cursor: step.head } };
  const when = { equals: { cursor } };
  if (step.jobs.length > 0) {
    const puts = step.jobs.map((job) => putJob(realm, job));
    const writes = [{ update: at, change, when }, ...puts, ...step.writes];
    return (await carryOut(outside, writes)).state === 'done';
  }
  return (await outside.table.update(at, change, when).catch(ignoreRefused)) !== undefined;
}
