import type { Outcome } from '../table/outcome.ts';
import type { Table } from '../table/table.ts';
import type { Write } from '../table/write.ts';
import { ConflictError } from './commit.ts';
import { backoff } from './log.ts';

/** `now` and `wait` are in milliseconds. */
interface Store {
  readonly table: Table;
  readonly uuid: () => string;
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

/** How long (ms) a transaction is retried without an answer: well within the life of its token. */
const TIMEOUT_MS = 10_000;

/**
 * Carries out writes without events in one transaction. Returns whether they were done or refused; throws if that is
 * still unknown when the time is up, and then they may have been done.
 */
export async function carryOut(
  { table, uuid, now, wait }: Store,
  writes: readonly Write[],
): Promise<Exclude<Outcome, { state: 'unsure' }>> {
  const token = uuid();
  const started = now();
  for (let attempt = 0; ; attempt++) {
    const outcome = await table.transact(writes, token);
    if (outcome.state !== 'unsure') return outcome;
    if (now() - started > TIMEOUT_MS) throw outcome.cause;
    await wait(backoff(attempt));
  }
}

/** The same where a condition that fails means that somebody else was faster. Throws `ConflictError` then. */
export async function carryOutUnchanged(store: Store, writes: readonly Write[]): Promise<void> {
  const outcome = await carryOut(store, writes);
  if (outcome.state === 'refused') throw new ConflictError(outcome.refused.map(({ item }) => item));
}
