import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Item } from './write.ts';

/** How a transaction ended. */
export type Outcome =
  | { readonly state: 'done' }
  /** Conditions failed: which writes (by position), and the items that refused them as they are now. */
  | {
      readonly state: 'refused';
      readonly refused: readonly { readonly index: number; readonly item: Item | undefined }[];
    }
  /** Nothing is known to be decided: a conflict, throttling, or a reply that never came. Try the same again. */
  | { readonly state: 'unsure'; readonly cause: Error };

interface Reason {
  readonly Code?: string;
  readonly Item?: Parameters<typeof unmarshall>[0];
}

/**
 * What AWS says when too much is asked of it at once, and it did nothing of it: DynamoDB where a partition, an item or
 * the account is busy, KMS, S3 and SQS.
 */
const THROTTLED = new Set([
  'TransactionConflictException',
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'SlowDown',
  'RequestThrottled',
]);

/** Faults that pass by themselves: throttling, trouble inside DynamoDB, a connection or a reply that got lost. */
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

/** Reasons other than a failed condition for which DynamoDB cancels a transaction that may succeed later. */
const PASSING_REASONS = new Set([
  'None',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);

/** Whether a transaction was cancelled only because of others, or of too many. */
function isCrowded(error: Error): boolean {
  const { CancellationReasons: reasons = [] } = error as Error & { CancellationReasons?: Reason[] };
  return reasons.every(({ Code }) => PASSING_REASONS.has(Code ?? 'None'));
}

/** Whether a call failed because there was no room for it, and can simply be made later. */
export const isThrottled = (error: unknown): boolean =>
  error instanceof Error &&
  (THROTTLED.has(error.name) || (error.name === 'TransactionCanceledException' && isCrowded(error)));

/** What a failed `TransactWriteItems` tells; undefined for a fault of ours, which must surface as it is. */
export function outcomeOf(error: unknown): Outcome | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'TransactionCanceledException') {
    const reasons = (error as Error & { CancellationReasons?: Reason[] }).CancellationReasons ?? [];
    const refused = reasons.flatMap((reason, index) =>
      reason.Code === 'ConditionalCheckFailed'
        ? [{ index, item: reason.Item === undefined ? undefined : unmarshall(reason.Item) }]
        : [],
    );
    if (refused.length > 0) return { state: 'refused', refused };
    return isCrowded(error) ? { state: 'unsure', cause: error } : undefined;
  }
  return isPassing(error) ? { state: 'unsure', cause: error } : undefined;
}

/** Whether a call that failed so may succeed when it is made again; it may also have worked, unheard. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Error &&
  (PASSING.has(error.name) || PASSING.has((error as NodeJS.ErrnoException).code ?? ''));

/** Whether a single write was refused by its condition. */
export const isRefused = (error: unknown): boolean =>
  error instanceof Error && error.name === 'ConditionalCheckFailedException';
