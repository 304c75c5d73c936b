import { EXPORT_QUEUE, EXPORTS } from '../domain/export/realm-export.ts';
import { MAIL_OUT, OUTBOX } from '../domain/outbox/outbox.ts';
import { SEARCH } from '../domain/search/pointer.ts';
import { PUSH, SEARCH_QUEUE } from '../kernel/wake-up.ts';
import { type Needs, reads, writes } from './endpoint.ts';
import type { OperatorSettingName } from './operator-setting.ts';

/** A queue and how its worker consumes it. */
export interface WorkerQueue {
  /** The name in `needs.queues` of its senders, in kebab-case. */
  readonly name: string;
  /** The most messages of one run. */
  readonly batchSize: number;
  /** Deliveries of a message before it moves to the dead-letter queue. */
  readonly maxReceives: number;
}

interface WorkerBase {
  /** Kebab-case. The handler is `functions/workers/<id>.ts`, and the Lambda is named after it. */
  readonly id: string;
  /** For operators: what it does, and the effect while it fails. */
  readonly description: string;
  readonly needs: Needs;
  /** Seconds that one run may take, at most 900. */
  readonly timeout: number;
  /** Memory in MB; Lambda's share of a processor grows with it. */
  readonly memory: number;
  /** The operator setting without which the worker is not deployed. */
  readonly onlyWith?: OperatorSettingName;
}

/** Handles the messages of its own queue in batches, and reports which ones failed. */
export interface QueueWorker extends WorkerBase {
  readonly queue: WorkerQueue;
}

/** Runs on a schedule. */
export interface ScheduledWorker extends WorkerBase {
  readonly schedule: {
    /** Minutes from one run to the next. */
    readonly everyMinutes: number;
  };
}

/** The declaration of background work: its function, its trigger and its grants. */
export type Worker = QueueWorker | ScheduledWorker;

export const outbox: QueueWorker = {
  id: OUTBOX,
  description:
    'Finishes large moves of messages, notifies users of new subscriptions and topics of moves, and sends scheduled messages ' +
    'and reminders; while it fails, all of this is delayed, and scheduled messages fail after ten minutes.',
  // A queue message only wakes the worker, and any run does all of the work, so a duplicate costs one read.
  queue: { name: OUTBOX, batchSize: 10, maxReceives: 3 },
  needs: {
    table: [...writes, 'DeleteItem', 'ConditionCheckItem'],
    queues: [OUTBOX, PUSH, MAIL_OUT],
    settings: ['MAIL_DOMAIN'],
  },
  // Visibility policies of 10,000 users take half of it.
  timeout: 90,
  memory: 512,
};

export const outboxSweep: ScheduledWorker = {
  id: 'outbox-sweep',
  description:
    'Wakes the outbox worker for what is due soon, and for jobs whose queue message was lost; while it fails, what was ' +
    'scheduled is not sent.',
  schedule: { everyMinutes: 5 },
  needs: { table: ['Query'], queues: [OUTBOX, MAIL_OUT] },
  timeout: 60,
  memory: 256,
};

export const mailOut: QueueWorker = {
  id: MAIL_OUT,
  description:
    'Sends invitations, reminders of them, and links for passwords by mail; while it fails, they are late.',
  queue: { name: MAIL_OUT, batchSize: 10, maxReceives: 5 },
  onlyWith: 'MAIL_DOMAIN',
  needs: {
    table: [...reads, 'PutItem', 'DeleteItem'],
    mail: true,
    site: true,
    settings: ['MAIL_DOMAIN'],
  },
  timeout: 60,
  memory: 256,
};

export const push: QueueWorker = {
  id: 'push',
  description:
    'Registers devices and sends notifications at the push relay; while it fails, phones get no notifications.',
  // A queue message only wakes the worker, and any run does all of the work, so a duplicate costs one read.
  queue: { name: PUSH, batchSize: 10, maxReceives: 3 },
  onlyWith: 'PUSH_RELAY_URL',
  needs: {
    table: [...writes, 'DeleteItem'],
    queues: [PUSH],
    secrets: ['push-relay-org-key'],
    key: ['Decrypt'],
    settings: ['PUSH_RELAY_URL', 'PUSH_RELAY_ORG_ID'],
  },
  // Two requests to the relay in sequence, 30 s each (wire facts 2), and the work around them.
  timeout: 90,
  memory: 512,
};

export const pushSweep: ScheduledWorker = {
  id: 'push-sweep',
  description: 'Wakes the push worker if its queue message was lost or its run did not finish.',
  schedule: { everyMinutes: 5 },
  needs: { table: ['BatchGetItem', 'Query', 'DeleteItem'], queues: [PUSH] },
  onlyWith: 'PUSH_RELAY_URL',
  timeout: 60,
  memory: 256,
};

/** The name of the bucket for received mail, and of the queue of its notifications. */
export const MAIL = 'incoming-mail';

export const incomingMail: QueueWorker = {
  id: 'incoming-mail',
  description: 'Posts received mail in channels; while it fails, mail waits for up to two weeks.',
  queue: { name: MAIL, batchSize: 1, maxReceives: 5 },
  needs: { table: writes, buckets: { [MAIL]: ['GetObject'] }, settings: ['MAIL_DOMAIN'] },
  onlyWith: 'MAIL_DOMAIN',
  timeout: 60,
  // Mail with very many lines uses half of it. Batches have one message, so such a mail affects no other.
  memory: 1024,
};

export const exportWorker: QueueWorker = {
  id: 'export',
  description:
    'Writes the archives of data exports, and keeps the index of messages for searches; while it fails, exports stay pending, ' +
    'and fail after three attempts, and searches become slow, and then unavailable.',
  // The index has no worker of its own, since each queue costs money while nobody talks (docs/COST.md).
  queue: { name: EXPORT_QUEUE, batchSize: 1, maxReceives: 3 },
  needs: {
    table: writes,
    queues: [EXPORT_QUEUE],
    buckets: {
      [SEARCH]: ['GetObject', 'PutObject', 'DeleteObject'],
      [EXPORTS]: ['GetObject', 'PutObject', 'DeleteObject', 'AbortMultipartUpload'],
      images: ['GetObject'],
      uploads: ['GetObject'],
    },
  },
  // A run that ends early continues in another one.
  timeout: 300,
  // Both kinds of work use a quarter of that, but a share of the processor comes with memory.
  memory: 1024,
};

export const retention: ScheduledWorker = {
  id: 'retention',
  description:
    'Deletes messages that are older than the retention period, and files that no message has held for five weeks; while it ' +
    'fails, they stay. It also wakes the worker of exports where messages wait to be indexed.',
  schedule: { everyMinutes: 60 },
  needs: {
    table: [...writes, 'DeleteItem', 'ConditionCheckItem'],
    queues: [SEARCH_QUEUE],
    buckets: { uploads: ['DeleteObject'] },
  },
  timeout: 900,
  // Eight organizations at a time, each with up to a hundred of the longest messages.
  memory: 512,
};

/** Every worker of the service. */
export const workers: readonly Worker[] = [
  exportWorker,
  incomingMail,
  mailOut,
  retention,
  push,
  pushSweep,
  outbox,
  outboxSweep,
];
