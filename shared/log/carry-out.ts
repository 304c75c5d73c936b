import type { Outcome } from '../table/outcome.ts';
import type { Table } from '../table/table.ts';
import type { Write } from '../table/write.ts';
import { backoff } from './log.ts';

/** What it takes to carry out a transaction. `now` and `wait` are in milliseconds. */
interface Store {
  readonly table: Table;
  readonly uuid: () => string;
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

/** How long (ms) a transaction is tried when nothing is heard of it, well within the life of its token. */
const PATIENCE = 10_000;

/**
 * Carries out writes that no log tells of, in one transaction. Says whether they were done or refused; throws when
 * that cannot be found out in time, and then they may have been done.
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
    if (now() - started > PATIENCE) throw outcome.cause;
    await wait(backoff(attempt));
  }
}
