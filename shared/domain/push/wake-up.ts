import type { Outside, Queues } from '../../kernel/outside.ts';
import { wakeWorker } from '../../kernel/wake-up.ts';
import type { Caller } from '../../model/user/caller.ts';

/** The queue of the push worker. */
export const PUSH = 'push';

/** A message of the queue: where to look for work. */
export interface WakeUp {
  readonly realm: string;
  /** Do only this job: a request waits for it. */
  readonly job?: string | undefined;
  /** Only check whether this user still has a device. */
  readonly left?: number | undefined;
}

export const sendWakeUp = (queues: Queues, wakeUp: WakeUp, delaySeconds?: number): Promise<void> =>
  queues.send(PUSH, wakeUp, delaySeconds);

/** Wakes the worker for work that is stored already: if this fails, the work is only delayed. */
export async function tryWakeUp(
  outside: Pick<Outside, 'report' | 'wait'>,
  queues: Queues,
  wakeUp: WakeUp,
): Promise<void> {
  await wakeWorker(outside, sendWakeUp(queues, wakeUp), {
    worker: 'push',
    message: 'the push worker was not woken',
  });
}

/** Wakes the worker after a commit that may add or remove notifications. Does nothing if nobody has a device. */
export async function wakePush({
  caller,
  outside,
  clients,
}: {
  readonly caller: Pick<Caller, 'realm' | 'realmId'>;
  readonly outside: Outside;
  readonly clients: { readonly queues: Queues };
}): Promise<void> {
  if (!caller.realm.hasPushDevices) return;
  await tryWakeUp(outside, clients.queues, { realm: caller.realmId });
}
