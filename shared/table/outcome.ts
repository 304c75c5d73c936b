import type { Item } from './write.ts';

/** How a transaction ended. */
export type Outcome =
  | { readonly state: 'done' }
  /** Conditions failed: which writes (by position), and the items that refused them as they are now. */
  | {
      readonly state: 'refused';
      readonly refused: readonly { readonly index: number; readonly item: Item | undefined }[];
    }
  /** Unknown: a conflict, throttling, or a lost reply. Send the same transaction again. */
  | { readonly state: 'unsure'; readonly cause: Error };

interface Reason {
  readonly Code?: string;
  readonly Item?: Item;
}

/** Error names of throttled calls, which changed nothing: DynamoDB, KMS, S3 and SQS. */
const THROTTLED = new Set([
  'TransactionConflictException',
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'SlowDown',
  'RequestThrottled',
]);

/** Faults that pass: throttling, errors inside DynamoDB, a lost connection or reply. */
const PASSING = new Set([
  ...THROTTLED,
  'TransactionInProgressException',
  'InternalServerError',
  'InternalFailure',
  'ServiceUnavailable',
  'ServiceUnavailableException',
  'TimeoutError',
  'AbortError',
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
]);

/** Reasons for which DynamoDB cancels a transaction that may succeed later. */
const PASSING_REASONS = new Set([
  'None',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);

/** Whether a transaction was cancelled only by conflicts with others or by throttling. */
function isCrowded(error: Error): boolean {
  const { CancellationReasons: reasons = [] } = error as Error & { CancellationReasons?: Reason[] };
  return reasons.every(({ Code }) => PASSING_REASONS.has(Code ?? 'None'));
}

/** Whether a call was throttled, and can simply be made later. */
export const isThrottled = (error: unknown): boolean =>
  error instanceof Error &&
  (THROTTLED.has(error.name) || (error.name === 'TransactionCanceledException' && isCrowded(error)));

/** The outcome of a failed `TransactWriteItems`; undefined for a fault of ours, which is thrown as it is. */
export function outcomeOf(error: unknown): Outcome | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'TransactionCanceledException') {
    const reasons = (error as Error & { CancellationReasons?: Reason[] }).CancellationReasons ?? [];
    const refused = reasons.flatMap((reason, index) =>
      reason.Code === 'ConditionalCheckFailed' ? [{ index, item: reason.Item }] : [],
    );
    if (refused.length > 0) return { state: 'refused', refused };
    return isCrowded(error) ? { state: 'unsure', cause: error } : undefined;
  }
  return isPassing(error) ? { state: 'unsure', cause: error } : undefined;
}

/** Whether the same call may succeed later. It may also have worked, with its reply lost. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Error &&
  (PASSING.has(error.name) || PASSING.has((error as NodeJS.ErrnoException).code ?? ''));

/** Whether a single write was refused by its condition. */
export const isRefused = (error: unknown): boolean =>
  error instanceof Error && error.name === 'ConditionalCheckFailedException';

/** For `catch`: undefined if a single write was refused by its condition. */
export function ignoreRefused(error: unknown): undefined {
  if (!isRefused(error)) throw error;
  return undefined;
}
