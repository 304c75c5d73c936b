import { exportWorker } from './export.ts';
import { incomingMail } from './incoming-mail.ts';
import { outbox, outboxSweep } from './outbox-worker.ts';
import { push, pushSweep } from './push-worker.ts';
import { retention } from './retention.ts';
import type { Worker } from './worker.ts';

/** Every worker of the service. */
export const workers: readonly Worker[] = [
  exportWorker,
  incomingMail,
  retention,
  push,
  pushSweep,
  outbox,
  outboxSweep,
];
