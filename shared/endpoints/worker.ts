import type { Needs } from './endpoint.ts';
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
