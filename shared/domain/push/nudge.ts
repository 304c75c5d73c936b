import type { Outside, Queues } from '../../kernel/outside.ts';
import type { Caller } from '../../model/user/caller.ts';

/** The queue that wakes the worker of push notifications. */
export const PUSH = 'push';

/** What a message of the queue says: where there is something to do. */
export interface WakeUp {
  readonly realm: string;
  /** Only this job: somebody waits for it. */
  readonly job?: string | undefined;
  /** Only this: somebody has perhaps no device any more. */
  readonly left?: number | undefined;
}

/** The longest (ms) that a reply waits for a nudge: the sweep makes up for one that got lost. */
const PATIENCE = 1_000;

/** Wakes the worker. */
export const sendNudge = (queues: Queues, nudge: WakeUp, delaySeconds?: number): Promise<void> =>
  queues.send(PUSH, nudge, delaySeconds);

/** The same where the work is noted already, so that a nudge which fails delays it and does no more. */
export async function tryToNudge(
  { report, wait }: Pick<Outside, 'report' | 'wait'>,
  queues: Queues,
  nudge: WakeUp,
): Promise<void> {
  const sent = sendNudge(queues, nudge).catch((error: Error) =>
    report({ level: 'WARN', worker: 'push', nudge: error.message }),
  );
  await Promise.race([sent, wait(PATIENCE)]);
}

/**
 * Wakes the worker after something was committed that people may be notified of, or need not be any more. Where nobody
 * has a device, which is known from what the request has read anyway, it costs nothing.
 */
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
  await tryToNudge(outside, clients.queues, { realm: caller.realmId });
}
