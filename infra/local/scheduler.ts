import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import type { InvocationResult } from './invocation.ts';
import { mayInvoke } from './invoke-permission.ts';
import { type NextTime, readSchedule } from './schedule-expression.ts';
import type { InvokePermission, Schedule } from './template.ts';
import type { Place } from './template-values.ts';

export interface SchedulerOptions {
  readonly schedules: readonly Schedule[];
  readonly permissions: readonly InvokePermission[];
  readonly place: Place;
  /** The file that remembers when each schedule fired last. */
  readonly file: string;
  readonly invoke: (functionName: string, event: string) => Promise<InvocationResult>;
  readonly onFault: (error: unknown) => void;
}

/** Milliseconds that Lambda waits before it runs a failed function for the second and the third time. */
const retries = [60_000, 120_000];
/** The longest time that a timer can be set to. */
const longestTimer = 2 ** 31 - 1;

/**
 * Fires schedules as EventBridge does. A laptop is not always on, so times are remembered over starts: one that has
 * passed in the meantime is made up for, once, at the next start.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #last: Record<string, number>;
  readonly #stopped = new AbortController();

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#last = existsSync(options.file)
      ? lastShape.parse(JSON.parse(readFileSync(options.file, 'utf8')))
      : {};
  }

  /**
   * Begins to fire.
   *
   * @throws Error when an expression cannot be read, or a function does not let EventBridge invoke it.
   */
  start(): void {
    const { schedules, permissions } = this.#options;
    const read = schedules.map((schedule) => ({ schedule, next: readSchedule(schedule.expression) }));
    const barred = schedules.find(
      (it) => !mayInvoke(permissions, it.functionName, 'events.amazonaws.com', it.arn),
    );
    if (barred)
      throw new Error(`The rule ${barred.name} has no permission to invoke ${barred.functionName}.`);
    for (const { schedule, next } of read) void this.#keep(schedule, next);
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #keep(schedule: Schedule, next: NextTime): Promise<void> {
    if (this.#last[schedule.name] === undefined) this.#remember(schedule, Date.now());
    while (await this.#waitUntil(next(this.#last[schedule.name] ?? Date.now()))) {
      this.#remember(schedule, Date.now());
      void this.#fire(schedule);
    }
  }

  /** Whether the time came before this was stopped. */
  async #waitUntil(time: number): Promise<boolean> {
    for (let left = time - Date.now(); left > 0; left = time - Date.now()) {
      if (!(await this.#sleep(Math.min(left, longestTimer)))) return false;
    }
    return !this.#stopped.signal.aborted;
  }

  async #fire(schedule: Schedule): Promise<void> {
    try {
      const event = schedule.input ?? JSON.stringify(this.#eventOf(schedule));
      for (const delay of [0, ...retries]) {
        if (!(await this.#sleep(delay))) return;
        const { outcome } = await this.#options.invoke(schedule.functionName, event);
        if (outcome === 'success') return;
      }
    } catch (error) {
      this.#options.onFault(error);
    }
  }

  #sleep(ms: number): Promise<boolean> {
    return sleep(ms, true, { signal: this.#stopped.signal, ref: false }).catch(() => false);
  }

  #remember({ name }: Schedule, time: number): void {
    this.#last[name] = time;
    const draft = `${this.#options.file}.draft`;
    writeFileSync(draft, JSON.stringify(this.#last));
    renameSync(draft, this.#options.file);
  }

  #eventOf({ arn }: Schedule) {
    return {
      version: '0',
      id: randomUUID(),
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      account: this.#options.place.accountId,
      time: `${new Date().toISOString().slice(0, 19)}Z`,
      region: this.#options.place.region,
      resources: [arn],
      detail: {},
    };
  }
}

const lastShape = z.record(z.string(), z.number());
