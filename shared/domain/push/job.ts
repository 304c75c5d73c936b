/**
 * Jobs: requests to the relay. Each is an item, put by the transaction that makes it necessary, so that none is lost
 * when a function dies. A message of the queue only says where to look. It may come twice, late or never: the sweep
 * finds jobs that were left.
 *
 * A lease keeps two runs from doing the same job. A job is marked just before its request is sent. If a run dies before
 * the mark, the next run starts the job from the beginning. If it dies after the mark, nobody knows whether the relay
 * got the request. Registrations and removals are then repeated, which is harmless. A notification is not: users notice
 * a duplicate, while a missed message is still unread. The operator gets a log line.
 */

import type { ProblemName } from '../../kernel/errors.ts';
import type { Outside, Queues, Secrets, Vault } from '../../kernel/outside.ts';
import { carryOut } from '../../log/carry-out.ts';
import { type Key, key } from '../../table/keys.ts';
import { ignoreRefused } from '../../table/outcome.ts';
import type { Table } from '../../table/table.ts';
import type { Changes, Condition, Write } from '../../table/write.ts';
import type { TokenKind } from './device.ts';

/** One run of the push worker in one organization. */
export interface PushRun {
  readonly outside: Outside;
  readonly clients: PushClients;
  readonly realm: string;
  /** When the run must end, ms. */
  readonly deadline: number;
}

/** The clients of AWS that the push worker uses besides the table. */
export interface PushClients {
  readonly queues: Queues;
  readonly secrets: Secrets;
  readonly vault: Vault;
}

/** The token of a device, with the registration that only the relay can read. */
export interface PushToken {
  readonly tokenId: string;
  readonly tokenKind: TokenKind;
  readonly relayKey: string;
  readonly registration: string;
}

/** What the relay is to do. */
export type PushTask =
  /** Accept the token of a device. */
  | ({ readonly kind: 'register'; readonly userId: number; readonly deviceId: number } & PushToken)
  /** Notify these users of a message, if they want to be notified. */
  | { readonly kind: 'message'; readonly messageId: number; readonly users: readonly number[] }
  /** Remove the notifications of messages that the user has read. */
  | { readonly kind: 'remove'; readonly userId: number; readonly ids: readonly number[] }
  /** Send a test to these devices. A request waits for the verdict. */
  | { readonly kind: 'test'; readonly userId: number; readonly devices: readonly number[] };

/** How a test ended: sent, or the error for its caller. */
export type Verdict =
  | 'sent'
  | Extract<ProblemName, 'noPushDevice' | 'pushAdminNeeded' | 'relayUnreachable' | 'relayBroken'>;

/** A job as stored. Times are in ms unless said otherwise. */
export type PushJob = PushTask & {
  readonly job: string;
  /** When it was created. */
  readonly at: number;
  /** When it expires: after that it is not done any more. */
  readonly until: number;
  /** When to try again; absent before the first failure. */
  readonly due?: number;
  /** Failed tries. */
  readonly failed?: number;
  /** The run that holds the lease, and since when. */
  readonly by?: string;
  readonly leased?: number;
  /** Set just before the request is sent to the relay. */
  readonly sending?: true;
  readonly verdict?: Verdict;
  /** When DynamoDB may delete it, seconds. */
  readonly expires: number;
};

declare module '../../table/keys.ts' {
  interface ItemTypes {
    pushJob: PushJob;
  }
}

/** How long a lease lasts: longer than a run of the worker. */
export const LEASE_MS = 100_000;

const MINUTE = 60_000;

/** How long each kind of job is worth doing. The relay itself rejects a registration that is too old. */
const LIFETIME_MS = {
  register: 24 * 60 * MINUTE,
  message: 30 * MINUTE,
  remove: 6 * 60 * MINUTE,
  test: 20_000,
} as const;

/** How long (seconds) an expired job stays before DynamoDB may delete it. */
const KEPT_SECONDS = 7 * 86_400;

export const jobKey = (realm: string, job: string): Key<'pushJob'> => key('pushJob', { realm, job });

/** A new job. Creating it again gives the same name. */
export function newJob(task: PushTask, job: string, at: number): PushJob {
  const until = at + LIFETIME_MS[task.kind];
  return { ...task, job, at, until, expires: Math.floor(until / 1000) + KEPT_SECONDS };
}

/** Stores a job, in the transaction that makes it necessary. */
export const putJob = (realm: string, job: PushJob): Write => ({
  put: jobKey(realm, job.job),
  item: { ...job },
});

/** Puts an organization on the list of the sweep. */
export const doListForSweep = (realm: string): Write => ({
  update: key('pushRealm', { realm }),
  change: { set: { realm }, add: { version: 1 } },
});

/** The jobs of an organization, ordered by kind and name. */
export const loadJobs = (table: Table, realm: string, limit?: number): Promise<PushJob[]> =>
  table.all('pushJob', { realm }, { ...(limit !== undefined && { limit }) });

/** Leases a job. Undefined if the job is gone, leased, not due yet, being sent or finished. */
export function leaseJob({ outside, realm }: PushRun, job: string): Promise<PushJob | undefined> {
  const now = outside.now();
  const update = outside.table.update(
    jobKey(realm, job),
    { set: { by: outside.uuid(), leased: now } },
    {
      absent: false,
      equals: { sending: undefined, verdict: undefined },
      below: { leased: now - LEASE_MS, due: now + 1 },
    },
  );
  return update.catch(ignoreRefused);
}

/** Changes a job that this run holds. False if it has lost its lease, or if the job is not as `equals` says. */
export async function changeJob(
  { outside, realm }: PushRun,
  { job, by }: PushJob,
  change: Changes,
  equals: Condition['equals'] = {},
): Promise<boolean> {
  const update = { update: jobKey(realm, job), change, when: { equals: { ...equals, by } } };
  return (await carryOut(outside, [update])).state === 'done';
}

/** Deletes a finished job, alone or together with its result. */
export const doFinish = (realm: string, { job, by }: PushJob): Write => ({
  delete: jobKey(realm, job),
  when: { equals: { by } },
});

/** Finishes a job that has no result. False if this run has lost its lease. */
export const finishJob = async ({ outside, realm }: PushRun, job: PushJob): Promise<boolean> =>
  (await carryOut(outside, [doFinish(realm, job)])).state === 'done';
