import { partition, sortPrefix } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Dialogue } from '../send/direct.ts';
import { loadCurrent, loadSubscriberIds } from '../subscription/subscription-object.ts';

/**
 * The people whom somebody knows who does not see everyone: themselves, the subscribers of their channels, and the
 * people of their direct conversations. Two round trips; the cost is that of a list of these people.
 */
export async function loadAcquaintances(
  table: Table,
  realm: string,
  userId: number,
): Promise<ReadonlySet<number>> {
  const [dialogues, subscribers] = await Promise.all([
    table.all<Dialogue>({
      pk: partition('dialogue', { realm, userId }),
      prefix: sortPrefix('dialogue'),
    }),
    loadCurrent(table, realm, userId).then((subscriptions) =>
      Promise.all(subscriptions.map(({ channelId }) => loadSubscriberIds(table, realm, channelId))),
    ),
  ]);
  return new Set([userId, ...subscribers.flat(), ...dialogues.flatMap(({ people }) => people)]);
}
