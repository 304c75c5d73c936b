import type { Needs } from './endpoint.ts';
import type { OperatorSettingName } from './operator-setting.ts';

/** A queue and how its worker takes from it. */
export interface WorkerQueue {
  /** The name that senders put into `needs.queues`, in kebab-case. */
  readonly name: string;
  /** Messages handed to one run of the worker at most. */
  readonly batchSize: number;
  /** Deliveries of one message before it goes to the dead-letter queue. */
  readonly maxReceives: number;
}

interface WorkerBase {
  /** Kebab-case: the function file is `functions/workers/<id>.ts`, the Lambda is named for it. */
  readonly id: string;
  /** One sentence for operators: what it does and what stays undone while it fails. */
  readonly description: string;
  readonly needs: Needs;
  /** Seconds that one run may take, at most 900. */
  readonly timeout: number;
  /** Memory in MB; Lambda's share of a processor grows with it. */
  readonly memory: number;
  /** The setting without which there is nothing to do: where nobody made it, there is no such worker. */
  readonly onlyWith?: OperatorSettingName;
}

/** Runs for messages of its own queue, in batches, and reports which ones failed. */
export interface QueueWorker extends WorkerBase {
  readonly queue: WorkerQueue;
}

/** Runs again and again. */
export interface ScheduledWorker extends WorkerBase {
  readonly schedule: {
    /** Minutes from one run to the next. */
    readonly everyMinutes: number;
  };
}

/** Slow work outside any request, said once: its function, its trigger and what it may touch. */
export type Worker = QueueWorker | ScheduledWorker;
