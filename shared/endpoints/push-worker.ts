import { PUSH } from '../domain/push/wake-up.ts';
import { writes } from './endpoint.ts';
import type { QueueWorker, ScheduledWorker } from './worker.ts';

export const push: QueueWorker = {
  id: 'push',
  description:
    'Tells the relay of devices and of what to notify them of; while it fails, telephones stay silent.',
  // What is in a message can be done by any run, so a late one costs nothing but its look.
  queue: { name: PUSH, batchSize: 10, maxReceives: 3 },
  onlyWith: 'PUSH_RELAY_URL',
  needs: {
    table: [...writes, 'DeleteItem'],
    queues: [PUSH],
    secrets: ['push-relay-org-key'],
    key: ['Decrypt'],
    settings: ['PUSH_RELAY_URL', 'PUSH_RELAY_ORG_ID'],
  },
  // Two requests of the relay, one after the other, of thirty seconds each (wire facts 2), and what goes with them.
  timeout: 90,
  memory: 512,
};

export const pushSweep: ScheduledWorker = {
  id: 'push-sweep',
  description: 'Wakes the worker of push notifications where it was not, or did not come to its end.',
  schedule: { everyMinutes: 5 },
  needs: { table: ['BatchGetItem', 'Query', 'DeleteItem'], queues: [PUSH] },
  onlyWith: 'PUSH_RELAY_URL',
  timeout: 60,
  memory: 256,
};
