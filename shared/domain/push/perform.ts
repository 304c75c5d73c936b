import { sendPushWakeUp } from '../../kernel/wake-up.ts';
import { type Change, ConflictError, commit } from '../../log/commit.ts';
import { logOf } from '../../log/log.ts';
import { type EventEntry, eventForEveryone } from '../../log/slot.ts';
import type { Realm } from '../../model/realm/realm.ts';
import { key } from '../../table/keys.ts';
import { deviceEvent, deviceKey, isActiveDevice, loadDevices } from './device.ts';
import { subscribePush, unsubscribePush } from './follower.ts';
import {
  changeJob,
  doFinish,
  doListForSweep,
  finishJob,
  leaseJob,
  loadJobs,
  type PushJob,
  type PushRun,
  type Verdict,
} from './job.ts';
import { openKeyring } from './keyring.ts';
import { noticesOfMessage } from './notice.ts';
import { type Notice, type PushStatus, pushRequest, type Relay, type RelayError, relayOf } from './relay.ts';

type JobOf<K extends PushJob['kind']> = Extract<PushJob, { readonly kind: K }>;

/** Delay (ms) before the first retry, doubled with each further one, and its maximum. */
const FIRST_DELAY_MS = 15_000;
const MAX_DELAY_MS = 900_000;
/** How long (ms) a removal waits for its notification to be sent. */
const REMOVAL_DELAY_MS = 3_000;

/** Does a job, unless another run has it. */
export async function perform(run: PushRun, name: string): Promise<void> {
  const { outside, clients } = run;
  const job = await leaseJob(run, name);
  if (job === undefined) return;
  try {
    if (job.until <= outside.now()) return await expire(run, job);
    const relay = await relayOf(outside.environment, clients.secrets);
    if (relay === undefined) return await handleRelayError(run, job, { kind: 'misconfigured' });
    if (job.kind === 'register') await register(run, relay, job);
    else await notify(run, relay, job);
  } catch (error) {
    // The next run can start at once if nothing was sent yet.
    await changeJob(run, job, { remove: ['by', 'leased'] }, { sending: undefined }).catch(() => {});
    throw error;
  }
}

/** Registers a device's token with the relay (wire facts 12.1). */
async function register(run: PushRun, relay: Relay, job: JobOf<'register'>): Promise<void> {
  const organization = await run.outside.table.get('realm', { realm: run.realm });
  if (organization === undefined) return end(run, job);
  const { error } = await relay.register(organization.uuid, job);
  if (error && error.code === undefined) return handleRelayError(run, job, error);
  await endRegistration(run, job, error?.code);
}

/**
 * Ends a registration, with the error code of one that failed, and sends its owner an event. A token that failed stays
 * pending, so that the owner's client knows which one it was.
 */
async function endRegistration(run: PushRun, job: JobOf<'register'>, errorCode?: string): Promise<void> {
  const { realm } = run;
  const { userId, tokenId, tokenKind } = job;
  const isAccepted = errorCode === undefined;
  const change = isAccepted
    ? { set: { tokenId, tokenKind }, remove: ['pendingTokenId', 'errorCode'] }
    : { set: { errorCode } };
  const shown = isAccepted
    ? { push_token_id: tokenId, pending_push_token_id: null }
    : { push_registration_error_code: errorCode };
  const isDone = await committed(run, 1, ([seq = 0]) => ({
    writes: [
      {
        update: deviceKey(realm, job),
        change: { ...change, add: { version: 1 } },
        when: { equals: { pendingTokenId: tokenId } },
        lastWriterWins: true,
      },
      ...(isAccepted ? [...subscribePush(realm, userId, seq), doListForSweep(realm)] : []),
      doFinish(realm, job),
    ],
    entries: [deviceEvent(job, 'update', shown)],
  }));
  // The device was removed meanwhile.
  if (!isDone) await end(run, job);
}

/** Sends the notifications of a job to all their devices, in one request (wire facts 12.3). */
async function notify(run: PushRun, relay: Relay, job: JobOf<'message' | 'remove' | 'test'>): Promise<void> {
  const { outside, realm, clients } = run;
  if (job.kind === 'remove' && (await isStillSending(run, job))) {
    return postpone(run, job, REMOVAL_DELAY_MS, job.failed ?? 0);
  }
  const [organization, stored, { notices, withoutDevice }] = await Promise.all([
    outside.table.get('realm', { realm }),
    outside.table.get('pushChest', { realm }),
    noticesOf(run, job),
  ]);
  if (withoutDevice.length > 0) await unsubscribePush(run, withoutDevice);
  if (organization === undefined || stored === undefined || notices.length === 0) {
    return end(run, job, 'noPushDevice');
  }
  const keyring = await openKeyring(outside, clients.vault, realm, stored);
  const requests = notices.map((notice) => pushRequest(outside, keyring, organization, notice));
  // Removing a notification twice is harmless.
  if (job.kind !== 'remove' && !(await changeJob(run, job, { set: { sending: true } }))) return;
  const reply = await relay.notify(organization.uuid, requests, job.until - outside.now());
  const { error } = reply;
  const dead = new Set<string>(reply.dead);
  const isDead = ({ device }: Notice): boolean => dead.has(device.tokenId);
  const status = error ? statusAfter(error) : reply.status;
  // The job ends even if one of these fails: its caller must get the verdict.
  const results = await Promise.allSettled([
    dropTokens(run, notices.filter(isDead)),
    status && updatePushStatus(run, organization, status),
  ]);
  if (error) await handleRelayError(run, job, error);
  else await end(run, job, notices.every(isDead) ? 'noPushDevice' : 'sent');
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** What an error of the relay means for the organization's status, if anything (wire facts 12.2). */
const statusAfter = ({ kind }: RelayError): PushStatus | undefined =>
  kind === 'unregistered' || kind === 'disallowed' ? { isServed: false, ends: undefined } : undefined;

/** Whether a notification that is to be removed may not be sent yet: the removal must not overtake it. */
async function isStillSending(
  { outside, realm }: PushRun,
  { userId, ids }: JobOf<'remove'>,
): Promise<boolean> {
  const jobs = await loadJobs(outside.table, realm);
  return jobs.some(
    (job) => job.kind === 'message' && ids.includes(job.messageId) && job.users.includes(userId),
  );
}

async function noticesOf({ outside, realm }: PushRun, job: JobOf<'message' | 'remove' | 'test'>) {
  if (job.kind === 'message') return noticesOfMessage(outside, realm, job);
  const active = (await loadDevices(outside.table, realm, job.userId)).filter(isActiveDevice);
  const devices =
    job.kind === 'test' ? active.filter(({ deviceId }) => job.devices.includes(deviceId)) : active;
  const content: Notice['content'] =
    job.kind === 'test'
      ? { type: 'test', time: Math.floor(job.at / 1000) }
      : { type: 'remove', message_ids: job.ids };
  return {
    notices: devices.map((device) => ({ device, content })),
    withoutDevice: active.length === 0 ? [job.userId] : [],
  };
}

/** Removes tokens that the relay calls dead, unless the device has another one by now, and sends events about it. */
async function dropTokens(run: PushRun, notices: readonly Notice[]): Promise<void> {
  for (const { device } of notices) {
    const { tokenId } = device;
    await committed(run, 1, () => ({
      writes: [
        {
          update: deviceKey(run.realm, device),
          change: { remove: ['tokenId'], add: { version: 1 } },
          when: { equals: { tokenId } },
          lastWriterWins: true,
        },
      ],
      entries: [deviceEvent(device, 'update', { push_token_id: null })],
    }));
  }
  const userIds = new Set(notices.map(({ device }) => device.userId));
  if (userIds.size > 0) await unsubscribePush(run, [...userIds]);
}

/** Stores the relay's status of an organization, and sends events about changes to everybody. */
async function updatePushStatus(
  run: PushRun,
  { pushRefused, pushEnds }: Pick<Realm, 'pushRefused' | 'pushEnds'>,
  { isServed, ends }: PushStatus,
): Promise<void> {
  const entries = [
    ...(isServed === (pushRefused === true) ? [realmEvent('push_notifications_enabled', isServed)] : []),
    ...(ends === pushEnds ? [] : [realmEvent('push_notifications_enabled_end_timestamp', ends ?? null)]),
  ];
  if (entries.length === 0) return;
  const set = { ...(!isServed && { pushRefused: true }), ...(ends !== undefined && { pushEnds: ends }) };
  const remove = [...(isServed ? ['pushRefused'] : []), ...(ends === undefined ? ['pushEnds'] : [])];
  // A conflict means that another run stored the status of its own reply.
  await committed(run, entries.length, () => ({
    writes: [
      {
        update: key('realm', { realm: run.realm }),
        change: { set, remove },
        when: { absent: false, equals: { pushRefused, pushEnds } },
      },
    ],
    entries,
  }));
}

const realmEvent = (property: string, value: unknown): EventEntry =>
  eventForEveryone({ type: 'realm', op: 'update', property, value });

/** The error for the caller of a test (wire facts 12.2); for other errors of the relay it is `pushAdminNeeded`. */
const verdicts: Partial<Record<RelayError['kind'], Verdict>> = {
  unreachable: 'relayUnreachable',
  noReply: 'relayUnreachable',
  relayError: 'relayBroken',
};

/**
 * Retries or ends a job after an error of the relay. A registration is retried until it expires. A notification is
 * retried only if the relay has certainly not accepted it, a removal also if it may have. Always logged.
 */
async function handleRelayError(run: PushRun, job: PushJob, { kind }: RelayError): Promise<void> {
  if (job.kind === 'test') return end(run, job, verdicts[kind] ?? 'pushAdminNeeded');
  const isPassing =
    kind === 'unreachable' || kind === 'relayError' || (kind === 'noReply' && job.kind === 'remove');
  const isRetried = job.kind === 'register' || isPassing;
  logFailure(run, job, { trouble: kind, tried: isRetried ? 'again later' : 'no more' });
  if (!isRetried) return end(run, job);
  const { failed = 0 } = job;
  await postpone(run, job, Math.min(FIRST_DELAY_MS * 2 ** failed, MAX_DELAY_MS), failed + 1);
}

/** Schedules a job again after `delay` (ms), with its number of failed tries. */
async function postpone(run: PushRun, job: PushJob, delay: number, failed: number): Promise<void> {
  const { outside, realm, clients } = run;
  const set = { due: outside.now() + delay, failed };
  await changeJob(run, job, { set, remove: ['by', 'leased', 'sending'] });
  await sendPushWakeUp(clients.queues, { realm, job: job.job }, Math.ceil(delay / 1000));
}

/** Ends a job that has expired. */
async function expire(run: PushRun, job: PushJob): Promise<void> {
  logFailure(run, job, { trouble: 'expired', tried: 'no more' });
  if (job.kind === 'register') return endRegistration(run, job, 'REQUEST_EXPIRED');
  return end(run, job, 'relayUnreachable');
}

/** Ends a job; a test with the verdict for its caller. */
async function end(run: PushRun, job: PushJob, verdict?: Verdict): Promise<void> {
  if (job.kind === 'test') await changeJob(run, job, { set: { verdict } });
  else await finishJob(run, job);
}

/** Commits a change. False if it met a conflict: what it is about was changed meanwhile. */
async function committed(
  { outside, realm }: PushRun,
  count: number,
  plan: (numbers: readonly number[]) => Omit<Change<undefined>, 'result'>,
): Promise<boolean> {
  try {
    await commit(logOf(outside, realm), count, (numbers) => ({ ...plan(numbers), result: undefined }));
    return true;
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    return false;
  }
}

/** Logs a failed job for the operator, without its contents. */
export const logFailure = (
  { outside, realm }: PushRun,
  { kind, failed = 0 }: PushJob,
  more: object,
): void => {
  const message = 'a push job failed';
  outside.report({ level: 'ERROR', worker: 'push', message, realm, job: kind, failed, ...more });
};
