/**
 * What the service counts about itself, and by what each is told apart: the names under which CloudWatch has them.
 * The stack makes its alarms of these.
 */
export const metrics = {
  /** Replies with an error, by their code. */
  Errors: 'Code',
  /** Runs of a worker that failed, or that nobody could ask for, by worker. */
  WorkFailures: 'Worker',
  /** Holes of the log that a reader had to fill, as their writers died or were slow. */
  HolesFilled: undefined,
  /** Requests and work that failed since the table, or an index of it, was asked for too much, after all repetitions. */
  StoreThrottled: undefined,
} as const;

export type MetricName = keyof typeof metrics;

/**
 * The name of all of them together, where the stack gives none under `NAMESPACE`: metrics belong to the account, in which
 * there may be several stacks.
 */
export const METRICS = 'Parlance';
export const NAMESPACE = 'METRICS_NAMESPACE';

/** Under this name the stack tells a function which code it runs, for its log. */
export const CODE = 'CODE';
