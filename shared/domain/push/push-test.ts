import { refusal } from '../../kernel/errors.ts';
import type { Outside, Queues } from '../../kernel/outside.ts';
import { carryOut } from '../../log/carry-out.ts';
import { hasRelay } from '../../model/realm/push-settings.ts';
import { type ActiveDevice, type Device, isActiveDevice } from './device.ts';
import { sendNudge } from './nudge.ts';
import { jobKey, newJob } from './push-job.ts';

/** The devices that a test goes to: the one that was named, or all that can get it (wire facts 12.2). */
export function accessTestDevices(devices: readonly Device[], deviceId: number | undefined): ActiveDevice[] {
  const found = devices.filter(isActiveDevice);
  const wanted = deviceId === undefined ? found : found.filter((device) => device.deviceId === deviceId);
  if (wanted.length === 0) throw refusal('noPushDevice');
  return wanted;
}

/** Between two looks for the verdict, ms: at first, and at most. */
const SOON = 80;
const LATER = 500;

/**
 * Has the worker send a test, and waits for what became of it, until the test is not worth sending any more: 20
 * seconds, well within the gateway's 29. Refuses where it was not sent (specification 7).
 *
 * The worker sends it once, however often it is woken. Where its answer does not come in time, the test is called off:
 * whoever heard that it failed must not get it later.
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
  await sendNudge(queues, { realm, job: job.job });
  for (let pause = SOON; now() < job.until; pause = Math.min(1.5 * pause, LATER)) {
    await wait(pause);
    const verdict = (await table.get(at))?.verdict;
    if (verdict === 'sent') return;
    if (verdict !== undefined) throw refusal(verdict);
  }
  await carryOut(outside, [{ delete: at, when: { equals: { sending: undefined } } }]);
  throw refusal('relayUnreachable');
}
