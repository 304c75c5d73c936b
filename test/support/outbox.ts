import type { SQSBatchResponse } from 'aws-lambda';
import { handler as outbox } from '../../functions/workers/outbox.ts';
import type { Left } from '../../shared/domain/outbox/outbox.ts';
import type { Send } from '../../shared/table/table.ts';
import { requestOf } from './faults.ts';
import type { TestRealm } from './realm.ts';
import { queued, runQueue } from './worker-run.ts';

/** What is left in the outbox of the realm. */
export const leftIn = ({ outside, realm }: Pick<TestRealm, 'outside' | 'realm'>): Promise<Left[]> =>
  outside.table.all('outbox', { realm });

/** What kinds of jobs there are, in the order of the alphabet. */
export const kindsOf = (left: readonly Left[]): string[] => left.map(({ kind }) => kind).sort();

/** The queue messages of these jobs, one for each. */
export const messagesOf = (left: readonly Left[]): string[] => [
  ...new Set(left.map(({ realm, kind, job }) => JSON.stringify({ realm, kind, job }))),
];

/** Runs the worker of the outbox for these messages, and returns those that failed. */
export const deliver = (realm: TestRealm, messages: readonly string[]): Promise<SQSBatchResponse> =>
  runQueue(
    realm,
    outbox,
    messages.map((body) => queued(body)),
  );

/** Does all that is left in the outbox of the realm. */
export async function workedOff(realm: TestRealm): Promise<void> {
  const { batchItemFailures } = await deliver(realm, messagesOf(await leftIn(realm)));
  const left = await leftIn(realm);
  if (batchItemFailures.length > 0 || left.length > 0) {
    throw new Error(`the outbox is not empty: ${JSON.stringify([realm.reports, left])}`);
  }
}

/** A container that ends with its nth transaction, as one that is stopped in the middle of its work. */
export function endingAt(realm: TestRealm, nth: number): TestRealm {
  let seen = 0;
  return realm.container(
    (store: Send): Send =>
      async (command) => {
        if (requestOf(command) === 'transact' && ++seen >= nth) throw new Error('the container ended');
        return store(command);
      },
  );
}
