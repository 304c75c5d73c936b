import { OUTBOX } from '../domain/outbox/outbox.ts';
import { writes } from './endpoint.ts';
import type { QueueWorker, ScheduledWorker } from './worker.ts';

export const outbox: QueueWorker = {
  id: OUTBOX,
  description:
    'Moves the rest of many messages that are moved at once, with visibility policies and participants, and tells people ' +
    'that they were subscribed and topics where their messages went; while it fails, all of this comes late.',
  // What is in a message can be done by any run, so a late one costs nothing but its look.
  queue: { name: OUTBOX, batchSize: 10, maxReceives: 3 },
  needs: { table: [...writes, 'DeleteItem', 'ConditionCheckItem'] },
  // Policies of ten thousand people take half of it.
  timeout: 90,
  memory: 512,
};

export const outboxSweep: ScheduledWorker = {
  id: 'outbox-sweep',
  description: 'Wakes the worker of the outbox where no message told it what is left to be done.',
  schedule: { everyMinutes: 5 },
  needs: { table: ['Query'], queues: [OUTBOX] },
  timeout: 60,
  memory: 256,
};
