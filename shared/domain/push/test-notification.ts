import { refusal } from '../../kernel/errors.ts';
import type { Outside, Queues } from '../../kernel/outside.ts';
import { sendPushWakeUp } from '../../kernel/wake-up.ts';
import { carryOut } from '../../log/carry-out.ts';
import { hasRelay } from '../../model/realm/realm.ts';
import { type ActiveDevice, type Device, isActiveDevice } from './device.ts';
import { jobKey, newJob } from './job.ts';

/** The devices that get the test: the device with this id, or all active ones (wire facts 12.2). */
export function accessTestDevices(devices: readonly Device[], deviceId: number | undefined): ActiveDevice[] {
  const active = devices.filter(isActiveDevice);
  const chosen = deviceId === undefined ? active : active.filter((device) => device.deviceId === deviceId);
  if (chosen.length === 0) throw refusal('noPushDevice');
  return chosen;
}

/** Pause (ms) before reading the verdict: at first, and at most. */
const FIRST_PAUSE_MS = 80;
const MAX_PAUSE_MS = 500;

/**
 * Has the worker send a test and waits for its verdict, up to the 20 seconds for which a test is valid. Refuses if it
 * was not sent (specification 7).
 *
 * The worker sends the test at most once. If there is no verdict in time, the job is deleted, so that a test whose
 * caller saw an error does not arrive later.
 */
export async function sendTest(
  outside: Outside,
  queues: Queues,
  realm: string,
  userId: number,
  devices: readonly ActiveDevice[],
): Promise<void> {
  const { table, now, uuid, wait, environment } = outside;
  if (!hasRelay(environment)) throw refusal('pushAdminNeeded');
  const task = { kind: 'test', userId, devices: devices.map(({ deviceId }) => deviceId) } as const;
  const job = newJob(task, `test-${uuid()}`, now());
  const at = jobKey(realm, job.job);
  await table.put(at, { ...job });
  await sendPushWakeUp(queues, { realm, job: job.job });
  for (let pause = FIRST_PAUSE_MS; now() < job.until; pause = Math.min(1.5 * pause, MAX_PAUSE_MS)) {
    await wait(pause);
    const verdict = (await table.get(at))?.verdict;
    if (verdict === 'sent') return;
    if (verdict !== undefined) throw refusal(verdict);
  }
  await carryOut(outside, [{ delete: at, when: { equals: { sending: undefined } } }]);
  throw refusal('relayUnreachable');
}
