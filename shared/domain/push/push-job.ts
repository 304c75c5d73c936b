/**
 * Jobs: what the relay must hear, each as an item that is put by the transaction which makes it necessary, so that
 * nothing is lost when a function dies. A message in the queue only says where to look; it may come twice, late or
 * not at all, since the sweep finds jobs that were left.
 *
 * Two runs never do the same job: whoever does it has a lease. And nobody does it twice, as far as that is in our
 * hands: just before the request the job is marked as being sent. A run that dies before that mark leaves a job that
 * the next one does from the beginning. One that dies after it leaves a job of which nobody can know whether the
 * relay has heard it. Where hearing it again does no harm it is done again. A notification is not: a message that is
 * shown twice would be noticed, one that is missed is still unread when its reader looks; the operator is told.
 */

import type { ProblemName } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { backoff } from '../../log/log.ts';
import { type Key, key } from '../../table/keys.ts';
import { isPassing, isRefused } from '../../table/outcome.ts';
import type { Table } from '../../table/table.ts';
import type { Item, Write } from '../../table/write.ts';
import type { TokenKind } from './device.ts';

/** What is to be told. */
export type PushTask =
  /** A device's token, which only the relay can read. */
  | {
      readonly kind: 'register';
      readonly userId: number;
      readonly deviceId: number;
      readonly tokenId: string;
      readonly tokenKind: TokenKind;
      readonly relayKey: string;
      readonly registration: string;
    }
  /** A message, to those of these people who want to be notified of it. */
  | { readonly kind: 'message'; readonly messageId: number; readonly users: readonly number[] }
  /** That somebody has read messages of which they were notified. */
  | { readonly kind: 'remove'; readonly userId: number; readonly ids: readonly number[] }
  /** A test, to those of these devices that can get it; somebody waits for the verdict. */
  | { readonly kind: 'test'; readonly userId: number; readonly devices: readonly number[] };

/** How a test ended: what its caller is told, or that it was sent. */
export type Verdict =
  | 'sent'
  | Extract<ProblemName, 'noPushDevice' | 'pushAdminNeeded' | 'relayUnreachable' | 'relayBroken'>;

/** A job as stored. Times are in ms unless said otherwise. */
export type PushJob = PushTask & {
  readonly job: string;
  /** When it came up. */
  readonly at: number;
  /** From then on it is not worth doing any more. */
  readonly until: number;
  /** Not before; absent until a try failed. */
  readonly due?: number;
  /** Tries that failed. */
  readonly failed?: number;
  /** Who is at it, and since when. */
  readonly by?: string;
  readonly leased?: number;
  /** The request to the relay is under way, or was. */
  readonly sending?: true;
  readonly verdict?: Verdict;
  /** Seconds: DynamoDB removes what everybody forgot. */
  readonly expires: number;
};

declare module '../../table/keys.ts' {
  interface ItemTypes {
    pushJob: PushJob;
  }
}

/** How long a lease holds: longer than a run of the worker can last. */
export const LEASE = 100_000;

const MINUTE = 60_000;

/** How long each kind is worth doing. The relay itself says when a registration is too old, unless nobody can ask it. */
const WORTH = {
  register: 24 * 60 * MINUTE,
  message: 30 * MINUTE,
  remove: 6 * 60 * MINUTE,
  test: 20_000,
} as const;

/** How long a job that nobody did stays before DynamoDB may remove it, seconds. */
const FORGOTTEN = 7 * 86_400;

export const jobKey = (realm: string, job: string): Key<'pushJob'> => key('pushJob', { realm, job });

/** A new job under a name that is the same whenever it comes up. */
export function newJob(task: PushTask, job: string, at: number): PushJob {
  const until = at + WORTH[task.kind];
  return { ...task, job, at, until, expires: Math.floor(until / 1000) + FORGOTTEN };
}

/** Puts a job, in the transaction that makes it necessary. */
export const putJob = (realm: string, job: PushJob): Write => ({
  put: jobKey(realm, job.job),
  item: { ...job },
});

/** Keeps an organization on the list of those that the sweep looks at. */
export const doRemember = (realm: string): Write => ({
  update: key('pushRealm', { realm }),
  change: { set: { realm }, add: { version: 1 } },
});

/** The jobs of an organization, the oldest names of each kind first. */
export const loadJobs = (table: Table, realm: string, limit?: number): Promise<PushJob[]> =>
  table.all('pushJob', { realm }, { ...(limit !== undefined && { limit }) });

/** Takes a job to do it; undefined where somebody is at it, or nobody may be any more. */
export async function takeJob(
  table: Table,
  realm: string,
  job: string,
  by: string,
  now: number,
): Promise<PushJob | undefined> {
  return changed(
    table,
    jobKey(realm, job),
    { by, leased: now },
    {
      absent: false,
      equals: { sending: undefined, verdict: undefined },
      below: { leased: now - LEASE, due: now + 1 },
    },
  );
}

/** Marks a job as being sent; false where somebody else took it meanwhile, who then sends it. */
export const markSending = (outside: Stores, realm: string, { job, by }: PushJob): Promise<boolean> =>
  marked(outside, jobKey(realm, job), { sending: true }, by);

/** Ends a test with its verdict, which its caller waits for. */
export const setVerdict = (
  outside: Stores,
  realm: string,
  { job, by }: PushJob,
  verdict: Verdict,
): Promise<boolean> => marked(outside, jobKey(realm, job), { verdict }, by);

type Stores = Pick<Outside, 'table' | 'wait'>;

/** How often a mark is set of which nobody knows whether it is there. */
const TRIES = 5;

/** Sets a mark, which may be done again; false where the job is not ours any more. */
async function marked(
  { table, wait }: Stores,
  at: Key<'pushJob'>,
  set: Item,
  by: string | undefined,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await changed(table, at, set, { equals: { by } })) !== undefined;
    } catch (error) {
      if (!isPassing(error) || attempt === TRIES) throw error;
      await wait(backoff(attempt));
    }
  }
}

/** Lets go of a job that is not being sent yet, after a fault of our own. */
export async function releaseJob(table: Table, realm: string, { job, by }: PushJob): Promise<void> {
  const when = { equals: { by, sending: undefined } };
  await table.update(jobKey(realm, job), { remove: ['by', 'leased'] }, when).catch(unlessRefused);
}

/** Lets go of a job, which is to be done later. */
export async function postponeJob(
  table: Table,
  realm: string,
  { job, by }: PushJob,
  until: Required<Pick<PushJob, 'due' | 'failed'>>,
): Promise<void> {
  const change = { set: until, remove: ['by', 'leased', 'sending'] };
  await table.update(jobKey(realm, job), change, { equals: { by } }).catch(unlessRefused);
}

/** Ends a job, in a transaction of its own or with what came of it. */
export const doFinish = (realm: string, { job, by }: PushJob): Write => ({
  delete: jobKey(realm, job),
  when: { equals: { by } },
});

/** The item after a conditional change, or undefined where the condition did not hold. */
async function changed(
  table: Table,
  at: Key<'pushJob'>,
  set: Item,
  when: NonNullable<Parameters<Table['update']>[2]>,
): Promise<PushJob | undefined> {
  try {
    return await table.update(at, { set }, when);
  } catch (error) {
    unlessRefused(error);
    return undefined;
  }
}

function unlessRefused(error: unknown): void {
  if (!isRefused(error)) throw error;
}
