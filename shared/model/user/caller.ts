import { refusal } from '../../kernel/errors.ts';
import { type GroupGraph, noGroups, sizeOfGraph } from '../../kernel/group-graph.ts';
import type { Outside } from '../../kernel/outside.ts';
import { type Standing, standingOf } from '../permission/permission.ts';
import type { Realm } from '../realm/realm.ts';
import type { User } from './user.ts';

/** Who is calling, and where: read afresh in every request, so that a change takes effect on the next one. */
export interface Caller {
  readonly realmId: string;
  readonly user: User;
  readonly standing: Standing;
  /** The standing of a bot's owner, whose rights the bot has too. */
  readonly owner?: Standing;
  readonly realm: Realm;
  readonly graph: GroupGraph;
}

/** Edges of a graph that costs no more to read than its version: some 4 KB. */
const SMALL_GRAPH = 400;

/**
 * Reads which named groups contain which. Every request needs the graph, which can have 100 KB, so a container that
 * remembers a large one reads only its version. One round trip, or two where a large graph has changed since.
 */
export async function loadGraph({ table, cache }: Outside, realm: string): Promise<GroupGraph> {
  const remembered = cache.graphs.get(realm);
  if (remembered !== undefined && sizeOfGraph(remembered) > SMALL_GRAPH) {
    const stored = await table.get('graphVersion', { realm });
    if ((stored?.version ?? noGroups.version) === remembered.version) return remembered;
  }
  const graph = (await table.get('groupGraph', { realm })) ?? noGroups;
  cache.graphs.set(realm, graph);
  return graph;
}

/** The IDs of the named groups that a person is a direct member of. One round trip. */
export async function directGroups(
  outside: Outside,
  realm: string,
  userId: number,
  reading: Promise<GroupGraph> = loadGraph(outside, realm),
): Promise<number[]> {
  const [memberships, graph] = await Promise.all([
    outside.table.all('membership', { realm, userId }),
    reading,
  ]);
  const arriving = Object.entries(graph.arriving ?? {}).filter(([, members]) => members.includes(userId));
  return [...new Set([...memberships.map(({ groupId }) => groupId), ...arriving.map(([id]) => Number(id))])];
}

/**
 * The caller, or the refusal of an unknown or deactivated account, or of a deactivated organization: `UNAUTHORIZED`
 * (wire facts 1.3). One round trip.
 */
export async function accessCaller(
  ...asked: [outside: Outside, realmId: string, userId: number, ownerId: number | undefined]
): Promise<Caller> {
  const caller = await loadCaller(...asked);
  if (caller === undefined) throw refusal('unauthorized');
  return caller;
}

/** Reads somebody as a caller; undefined where their account or their organization is not active. One round trip. */
export async function loadCaller(
  outside: Outside,
  realmId: string,
  userId: number,
  ownerId: number | undefined,
): Promise<Caller | undefined> {
  const user = (id: number): Promise<User | undefined> =>
    outside.table.get('user', { realm: realmId, userId: id });
  const reading = loadGraph(outside, realmId);
  const [realm, graph, self, groups, owner, ownerGroups] = await Promise.all([
    outside.table.get('realm', { realm: realmId }),
    reading,
    user(userId),
    directGroups(outside, realmId, userId, reading),
    ownerId === undefined ? undefined : user(ownerId),
    ownerId === undefined ? [] : directGroups(outside, realmId, ownerId, reading),
  ]);
  if (realm === undefined || realm.deactivated || self === undefined || !self.isActive) return undefined;
  const standing = (who: User, direct: readonly number[]): Standing =>
    standingOf(who, direct, graph, realm.settings.waiting_period_threshold, outside.now());
  return {
    realmId,
    user: self,
    standing: standing(self, groups),
    // A deactivated owner lends no rights.
    ...(owner?.isActive && { owner: standing(owner, ownerGroups) }),
    realm,
    graph,
  };
}
