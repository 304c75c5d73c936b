import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { QueueWorker, ScheduledWorker } from '../endpoints/workers.ts';
import { traceOf } from '../kernel/errors.ts';
import type { Outside } from '../kernel/outside.ts';
import { isThrottled } from '../table/outcome.ts';
import { type ClientFactories, type Clients, clientsFor, outsideOf } from './container.ts';

/** A message of a worker's queue. */
export interface WorkRecord {
  /** The same at each delivery of the message. */
  readonly id: string;
  /** What its sender put into it, parsed from JSON. Nothing has been checked. */
  readonly body: unknown;
  /** How often it was delivered, this time included: the last one is `queue.maxReceives` of the worker. */
  readonly receives: number;
  /** When the run will be ended from outside, in milliseconds since 1970 by the clock of `outside`. */
  readonly deadline: number;
}

type Clock = Pick<Context, 'getRemainingTimeInMillis'>;
type Lambda<E, R> = (event: E, context: Clock) => Promise<R>;
type Served<W, E, R> = Lambda<E, R> & {
  readonly with: (outside: Outside) => Lambda<E, R>;
  readonly worker: W;
};

/** Lambda handlers of workers, which tests take with an outside of their own. */
export type ServedQueue = Served<QueueWorker, Pick<SQSEvent, 'Records'>, SQSBatchResponse>;
export type ServedSchedule = Served<ScheduledWorker, unknown, void>;

/**
 * Makes the Lambda handler of a worker that a queue feeds. The messages of a batch run side by side, each by itself:
 * one for which `run` throws is reported, to the operator and to SQS, and only it comes again, until the queue gives
 * it up to its dead letters. SQS may deliver a message twice, so `run` must not mind.
 *
 * `factories` make the clients besides the table that `run` gets (`shared/serve/container.ts`).
 */
export const servesQueue = <M extends ClientFactories = Record<never, never>>(
  worker: QueueWorker,
  run: (outside: Outside, record: WorkRecord, clients: Clients<M>) => Promise<void>,
  factories?: M,
): ServedQueue =>
  served(worker, async (outside, { Records }: Pick<SQSEvent, 'Records'>, context) => {
    const deadline = deadlineOf(outside, context);
    const handled = await Promise.all(
      Records.map(async ({ messageId, attributes, body }) => {
        const receives = Number(attributes.ApproximateReceiveCount);
        try {
          const parsed: unknown = JSON.parse(body);
          await run(
            outside,
            { id: messageId, body: parsed, receives, deadline },
            clientsFor(outside, made(factories)),
          );
          return [];
        } catch (error) {
          outside.report({
            level: 'ERROR',
            message: 'queue message failed',
            worker: worker.id,
            messageId,
            receives,
            error: traceOf(error),
          });
          countFailure(outside, worker, error, { messageId });
          return [{ itemIdentifier: messageId }];
        }
      }),
    );
    return { batchItemFailures: handled.flat() };
  });

/**
 * Makes the Lambda handler of a worker that runs by the clock. It may overlap with a run that is late, and may be
 * ended at its deadline (milliseconds since 1970 by the clock of `outside`), so `run` must be able to go on where it,
 * or another, stopped. What it throws is reported, and Lambda runs it again.
 */
export const servesSchedule = <M extends ClientFactories = Record<never, never>>(
  worker: ScheduledWorker,
  run: (outside: Outside, deadline: number, clients: Clients<M>) => Promise<void>,
  factories?: M,
): ServedSchedule =>
  served(worker, async (outside, _event: unknown, context) => {
    try {
      await run(outside, deadlineOf(outside, context), clientsFor(outside, made(factories)));
    } catch (error) {
      outside.report({
        level: 'ERROR',
        message: 'scheduled run failed',
        worker: worker.id,
        error: traceOf(error),
      });
      countFailure(outside, worker, error);
      throw error;
    }
  });

function served<W, E, R>(
  worker: W,
  run: (outside: Outside, event: E, context: Clock) => Promise<R>,
): Served<W, E, R> {
  const make =
    (outside: () => Outside): Lambda<E, R> =>
    (event, context) =>
      run(outside(), event, context);
  return Object.assign(
    make(() => outsideOf(process.env)),
    { with: (outside: Outside) => make(() => outside), worker },
  );
}

function countFailure(
  { count }: Outside,
  { id }: QueueWorker | ScheduledWorker,
  error: unknown,
  details: Readonly<Record<string, unknown>> = {},
): void {
  if (isThrottled(error)) count('StoreThrottled', undefined, { worker: id, ...details });
  count('WorkFailures', id, details);
}

const NONE: ClientFactories = {};

const made = <M extends ClientFactories>(factories: M | undefined): M => factories ?? (NONE as M);

const deadlineOf = ({ now }: Outside, context: Clock): number => now() + context.getRemainingTimeInMillis();
