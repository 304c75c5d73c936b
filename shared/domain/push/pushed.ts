import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';

/** So many are remembered at most, the newest ones: more do not find room on a telephone. */
const MOST = 200;

export async function loadPushed(table: Table, realm: string, userId: number): Promise<ReadonlySet<number>> {
  const stored = await table.get('pushed', { realm, userId });
  return stored?.ids ?? new Set();
}

/** Notes that somebody is about to be notified of a message. */
export async function notePushed(
  table: Table,
  realm: string,
  userId: number,
  messageId: number,
): Promise<void> {
  const at = key('pushed', { realm, userId });
  const { ids } = await table.update(at, { add: { ids: new Set([messageId]) } });
  if (ids === undefined || ids.size <= MOST) return;
  const oldest = [...ids].sort((a, b) => a - b).slice(0, ids.size - MOST);
  await table.update(at, { take: { ids: new Set(oldest) } });
}

/** Forgets notifications that are being taken away. */
export const doForgetPushed = (realm: string, userId: number, ids: readonly number[]): Write => ({
  update: key('pushed', { realm, userId }),
  change: { take: { ids: new Set(ids) } },
});
