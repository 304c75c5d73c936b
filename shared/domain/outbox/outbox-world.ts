import type { GroupGraph } from '../../kernel/group-graph.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { Log } from '../../log/log.ts';
import type { Realm } from '../../model/realm/realm.ts';
import { loadGraph } from '../../model/user/caller.ts';

/** One organization as the worker of the outbox sees it. */
export interface OutboxWorld {
  readonly outside: Outside;
  readonly log: Log;
  readonly realmId: string;
  readonly realm: Realm;
  readonly graph: GroupGraph;
}

/**
 * Reads it; undefined where it does not exist any more. One round trip.
 *
 * A deactivated organization is like any other here. What is left belongs to changes that were committed before it was
 * deactivated, and it must be whole when it comes back, however late that is.
 */
export async function loadWorld(outside: Outside, realmId: string): Promise<OutboxWorld | undefined> {
  const { table, now, wait } = outside;
  const [stored, graph] = await Promise.all([
    table.get('realm', { realm: realmId }),
    loadGraph(outside, realmId),
  ]);
  if (stored === undefined) return undefined;
  const log = { table, realm: realmId, now, wait };
  return { outside, log, realmId, realm: stored, graph };
}
