import type { Outside, Queues, Secrets, Vault } from '../../kernel/outside.ts';
import type { Log } from '../../log/log.ts';

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
