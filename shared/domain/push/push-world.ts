import type { Log } from '../../log/log.ts';
import { backoff } from '../../log/log.ts';
import type { Write } from '../../table/write.ts';
import type { Outside, Queues, Secrets, Vault } from '../outside.ts';

/** What the worker of push notifications uses besides the table. */
export interface PushTools {
  readonly queues: Queues;
  readonly secrets: Secrets;
  readonly vault: Vault;
}

/** One organization as the worker of push notifications sees it, until its run must end (ms). */
export interface PushWorld {
  readonly outside: Outside;
  readonly tools: PushTools;
  readonly realm: string;
  readonly log: Log;
  readonly deadline: number;
}

/** How often a transaction is tried of which nobody knows whether it worked. */
const TRIES = 5;

/** Carries out all of the writes or none; false where a condition of them did not hold. */
export async function carriedOut(
  { table, uuid, wait }: Pick<Outside, 'table' | 'uuid' | 'wait'>,
  writes: readonly Write[],
): Promise<boolean> {
  const token = uuid();
  for (let attempt = 1; ; attempt++) {
    const outcome = await table.transact(writes, token);
    if (outcome.state !== 'unsure') return outcome.state === 'done';
    if (attempt === TRIES) throw outcome.cause;
    await wait(backoff(attempt));
  }
}
