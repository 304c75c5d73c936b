import type { Commit } from '../../log/bulk.ts';
import { carryOut } from '../../log/carry-out.ts';
import { ConflictError, commit } from '../../log/commit.ts';
import type { Realm } from '../../model/realm/realm.ts';
import type { Write } from '../../table/write.ts';
import { deviceEvent, deviceKey, isActiveDevice, loadDevices } from './device.ts';
import { dropHolders, subscribePush } from './holders.ts';
import { loadStoredChest, openChest } from './key-chest.ts';
import { sendNudge } from './nudge.ts';
import {
  doFinish,
  doRemember,
  loadJobs,
  markSending,
  type PushJob,
  postponeJob,
  releaseJob,
  setVerdict,
  takeJob,
  type Verdict,
} from './push-job.ts';
import { noticesOfMessage } from './push-message.ts';
import { type Notice, pushRequest } from './push-payload.ts';
import { notePushStatus, type PushStatus } from './push-status.ts';
import type { PushWorld } from './push-world.ts';
import { type Relay, relayOf, type Trouble } from './relay.ts';

type JobOf<K extends PushJob['kind']> = Extract<PushJob, { readonly kind: K }>;

/** The first time (ms) before a failed try is repeated, doubled with each further one, and the longest. */
const FIRST = 15_000;
const LONGEST = 900_000;
/** How long (ms) a removal waits for its notification. */
const SHORTLY = 3_000;

/** Does a job, unless somebody else is at it. */
export async function perform(world: PushWorld, name: string): Promise<void> {
  const { outside, realm, tools } = world;
  const job = await takeJob(outside.table, realm, name, outside.uuid(), outside.now());
  if (job === undefined) return;
  try {
    if (job.until <= outside.now()) return await giveUp(world, job);
    const relay = await relayOf(outside.environment, tools.secrets);
    if (relay === undefined) return await overcome(world, job, { kind: 'misconfigured' });
    if (job.kind === 'register') await register(world, relay, job);
    else await notify(world, relay, job);
  } catch (error) {
    // What was not sent yet can be done by the next run at once.
    await releaseJob(outside.table, realm, job).catch(() => {});
    throw error;
  }
}

/** Asks the relay to take a device's token, and tells the device's owner what it said (wire facts 12.1). */
async function register(world: PushWorld, relay: Relay, job: JobOf<'register'>): Promise<void> {
  const organization = await loadRealm(world);
  if (organization === undefined) return finish(world, job);
  const { tokenId, registration, relayKey } = job;
  const { trouble } = await relay.register({ realmUuid: organization.uuid, tokenId, registration, relayKey });
  if (trouble === undefined) return registered(world, job);
  if (trouble.kind === 'refused') return notRegistered(world, job, trouble.code);
  return overcome(world, job, trouble);
}

function registered(world: PushWorld, job: JobOf<'register'>): Promise<void> {
  const { realm } = world;
  const { userId, tokenId, tokenKind } = job;
  return conclude(world, job, (seq) => ({
    writes: [
      {
        update: deviceKey(realm, job),
        change: { set: { tokenId, tokenKind }, remove: ['pendingTokenId', 'errorCode'], add: { version: 1 } },
        when: { equals: { pendingTokenId: tokenId } },
        lastWriterWins: true,
      },
      ...subscribePush(realm, userId, seq),
      doRemember(realm),
    ],
    changes: { push_token_id: tokenId, pending_push_token_id: null },
  }));
}

/** The token stays as the one that was asked for, so that the owner's client knows what failed. */
const notRegistered = (world: PushWorld, job: JobOf<'register'>, errorCode: string): Promise<void> =>
  conclude(world, job, () => ({
    writes: [
      {
        update: deviceKey(world.realm, job),
        change: { set: { errorCode }, add: { version: 1 } },
        when: { equals: { pendingTokenId: job.tokenId } },
        lastWriterWins: true,
      },
    ],
    changes: { push_registration_error_code: errorCode },
  }));

/** Ends a registration together with what came of it; a device that is gone meanwhile has nothing to be told. */
async function conclude(
  world: PushWorld,
  job: JobOf<'register'>,
  outcome: (seq: number) => { readonly writes: readonly Write[]; readonly changes: object },
): Promise<void> {
  try {
    await commitIn(world)(1, ([seq = 0]) => {
      const { writes, changes } = outcome(seq);
      return {
        writes: [...writes, doFinish(world.realm, job)],
        entries: [deviceEvent(job, 'update', changes)],
        result: undefined,
      };
    });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    await finish(world, job);
  }
}

/** Sends what the job is about to the devices that it is for, all of it in one request (wire facts 12.3). */
async function notify(
  world: PushWorld,
  relay: Relay,
  job: JobOf<'message' | 'remove' | 'test'>,
): Promise<void> {
  const { outside, realm, tools } = world;
  if (job.kind === 'remove' && (await isOnItsWay(world, job))) {
    return postpone(world, job, SHORTLY, job.failed ?? 0);
  }
  const [organization, stored, { notices, without }] = await Promise.all([
    loadRealm(world),
    loadStoredChest(outside.table, realm),
    noticesOf(world, job),
  ]);
  if (without.length > 0) await dropHolders(world, without);
  if (organization === undefined || stored === undefined || notices.length === 0) {
    return end(world, job, 'noPushDevice');
  }
  const chest = await openChest(outside, tools.vault, realm, stored);
  const requests = notices.map((notice) => pushRequest(outside, chest, organization, notice));
  // Taking a notification away twice is no harm.
  if (job.kind !== 'remove' && !(await markSending(outside, realm, job))) return;
  const { trouble, answer } = await relay.notify(organization.uuid, requests, job.until - outside.now());
  const isDead = ({ device }: Notice): boolean => answer?.dead.includes(device.tokenId) === true;
  const status = trouble ? statusAfter(trouble) : answer.status;
  // Whatever becomes of this, the job is over, and its caller must hear how it ended.
  const aftermath = await Promise.allSettled([
    dropTokens(world, notices.filter(isDead)),
    status && notePushStatus(realm, commitIn(world), organization, status),
  ]);
  if (trouble) await overcome(world, job, trouble);
  else await end(world, job, notices.every(isDead) ? 'noPushDevice' : 'sent');
  for (const part of aftermath) if (part.status === 'rejected') throw part.reason;
}

/** What trouble with the relay says of the organization, if anything (wire facts 12.2). */
const statusAfter = ({ kind }: Trouble): PushStatus | undefined =>
  kind === 'unregistered' || kind === 'disallowed' ? { isServed: false, ends: undefined } : undefined;

/** Whether a notification that is to be taken away may still be on its way to the relay: it must not come after that. */
async function isOnItsWay({ outside, realm }: PushWorld, { userId, ids }: JobOf<'remove'>): Promise<boolean> {
  const jobs = await loadJobs(outside.table, realm);
  return jobs.some(
    (job) => job.kind === 'message' && ids.includes(job.messageId) && job.users.includes(userId),
  );
}

/** The notices of a job. */
async function noticesOf({ outside, realm }: PushWorld, job: JobOf<'message' | 'remove' | 'test'>) {
  if (job.kind === 'message') return noticesOfMessage(outside, realm, job);
  const devices = (await loadDevices(outside.table, realm, job.userId)).filter(isActiveDevice);
  const wanted =
    job.kind === 'test' ? devices.filter(({ deviceId }) => job.devices.includes(deviceId)) : devices;
  const says: Notice['says'] =
    job.kind === 'test'
      ? { type: 'test', time: Math.floor(job.at / 1000) }
      : { type: 'remove', message_ids: job.ids };
  return {
    notices: wanted.map((device) => ({ device, says })),
    without: devices.length === 0 ? [job.userId] : [],
  };
}

/** Takes tokens that the relay calls dead from their devices, unless they have others by now, and tells it. */
async function dropTokens(world: PushWorld, notices: readonly Notice[]): Promise<void> {
  const { realm } = world;
  for (const { device } of notices) {
    const { tokenId } = device;
    await commitIn(world)(1, () => ({
      writes: [
        {
          update: deviceKey(realm, device),
          change: { remove: ['tokenId'], add: { version: 1 } },
          when: { equals: { tokenId } },
          lastWriterWins: true as const,
        },
      ],
      entries: [deviceEvent(device, 'update', { push_token_id: null })],
      result: undefined,
    })).catch((error: unknown) => {
      if (!(error instanceof ConflictError)) throw error;
    });
  }
  if (notices.length > 0) await dropHolders(world, [...new Set(notices.map(({ device }) => device.userId))]);
}

/** What the caller of a test is told of each kind of trouble (wire facts 12.2). */
const verdictOf: Readonly<Record<Trouble['kind'], Verdict>> = {
  unreached: 'relayUnreachable',
  unsure: 'relayUnreachable',
  broken: 'relayBroken',
  unregistered: 'pushAdminNeeded',
  disallowed: 'pushAdminNeeded',
  misconfigured: 'pushAdminNeeded',
  refused: 'pushAdminNeeded',
};

/**
 * What becomes of a job that the relay did not do. A registration is tried until it is done: a phone waits for it. A
 * notification is tried again where the relay has certainly not taken it, and taking one away wherever it may not have.
 * The operator is told each time.
 */
async function overcome(world: PushWorld, job: PushJob, trouble: Trouble): Promise<void> {
  if (job.kind === 'test') return end(world, job, verdictOf[trouble.kind]);
  const { kind } = trouble;
  const isPassing = kind === 'unreached' || kind === 'broken' || (kind === 'unsure' && job.kind === 'remove');
  const isTriedAgain = job.kind === 'register' || isPassing;
  report(world, job, { trouble: kind, tried: isTriedAgain ? 'again later' : 'no more' });
  if (!isTriedAgain) return finish(world, job);
  const { failed = 0 } = job;
  await postpone(world, job, Math.min(FIRST * 2 ** failed, LONGEST), failed + 1);
}

/** Has a job done later, after a time (ms), of which so many tries have failed. */
async function postpone(world: PushWorld, job: PushJob, delay: number, failed: number): Promise<void> {
  const { outside, realm, tools } = world;
  await postponeJob(outside.table, realm, job, { due: outside.now() + delay, failed });
  await sendNudge(tools.queues, { realm, job: job.job }, Math.ceil(delay / 1000));
}

/** Ends a job that is not worth doing any more. */
async function giveUp(world: PushWorld, job: PushJob): Promise<void> {
  report(world, job, { trouble: 'too late', tried: 'no more' });
  if (job.kind === 'register') return notRegistered(world, job, 'REQUEST_EXPIRED');
  return end(world, job, 'relayUnreachable');
}

/** Ends a job; a test with the verdict that its caller waits for. */
async function end(world: PushWorld, job: PushJob, verdict: Verdict): Promise<void> {
  if (job.kind !== 'test') return finish(world, job);
  await setVerdict(world.outside, world.realm, job, verdict);
}

async function finish({ outside, realm }: PushWorld, job: PushJob): Promise<void> {
  await carryOut(outside, [doFinish(realm, job)]);
}

const loadRealm = ({ outside, realm }: PushWorld): Promise<Realm | undefined> =>
  outside.table.get('realm', { realm });

const commitIn =
  ({ log }: PushWorld): Commit =>
  (count, plan) =>
    commit(log, count, plan);

/** Tells the operator of a job that came to nothing, or not yet. Nothing of what is in it. */
const report = ({ outside, realm }: PushWorld, { kind, failed = 0 }: PushJob, more: object): void =>
  outside.report({ level: 'ERROR', worker: 'push', realm, job: kind, failed, ...more });
