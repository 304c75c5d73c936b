import { badRequest } from '../../kernel/errors.ts';
import type { Outside, Queues } from '../../kernel/outside.ts';
import { wakeWorker } from '../../kernel/wake-up.ts';
import { runPool } from '../../pool.ts';
import { type Key, key } from '../../table/keys.ts';
import { OUTBOX } from '../outbox/outbox.ts';

/*
 * What is due stands in one list of all organizations, by time. The sweep reads the beginning of that list every few
 * minutes, and sends the worker of the outbox a delayed queue message for what is due before its next run; a request that
 * stores something for a sooner time sends one itself. A message may come twice, late or never: the worker does what is
 * still stored.
 */

/** Something that is due at a time. */
export interface Due {
  readonly realm: string;
  readonly userId: number;
  readonly what: 'message' | 'reminder' | 'invitation';
  readonly id: number;
  /** Seconds since 1970. */
  readonly at: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    due: Due;
  }
}

/** The key of what is due. */
export const dueKey = ({ realm, userId, id, at }: Due): Key<'due'> => key('due', { at, realm, userId, id });

/** Refuses a time (seconds) that is not in the future. `now` is in milliseconds. */
export function checkTime(deliverAt: number, now: number): void {
  if (deliverAt * 1000 <= now) throw badRequest("'scheduled_delivery_timestamp' must be in the future.");
}

/**
 * How far ahead (seconds) of its time something gets its queue message. It covers two runs of the sweep, so that one may
 * fail, and is less than the longest delay of a queue (15 minutes).
 */
const AHEAD_SECONDS = 600;

/** Queue messages that the sweep sends at once. */
const CONCURRENCY = 16;

/** Most things that one run of the sweep sends messages for; the next run does more. */
const MAX_SWEPT = 5_000;

/** Sends the worker a message that arrives when the time has come. `now` is in milliseconds. */
export const sendDue = (queues: Queues, { realm, userId, what, id, at }: Due, now: number): Promise<void> =>
  queues.send(
    OUTBOX,
    { kind: 'due', realm, userId, what, id, at },
    Math.min(AHEAD_SECONDS, Math.max(0, Math.ceil(at - now / 1000))),
  );

/** Wakes the worker for something that is due before the sweep is sure to have seen it. A failure is only logged. */
export async function wakeForDue(
  outside: Pick<Outside, 'report' | 'wait' | 'now'>,
  queues: Queues,
  due: Due,
): Promise<void> {
  const now = outside.now();
  if (due.at * 1000 > now + AHEAD_SECONDS * 1000) return;
  await wakeWorker(outside, sendDue(queues, due, now), {
    worker: OUTBOX,
    message: 'the worker was not woken',
  });
}

/** Wakes the worker for everything that is due soon, or was due and is still there. */
export async function sweepDue(
  { table, now }: Pick<Outside, 'table' | 'now'>,
  queues: Queues,
): Promise<void> {
  const soon = Math.floor(now() / 1000) + AHEAD_SECONDS;
  const all = await table.all(
    'due',
    {},
    { to: { at: soon, realm: '', userId: 0, id: 0 }, limit: MAX_SWEPT, eventually: true },
  );
  const failures = await runPool(all, CONCURRENCY, (due) => sendDue(queues, due, now()));
  if (failures.length > 0)
    throw new AggregateError(failures, 'no message could be sent for some of what is due');
}
