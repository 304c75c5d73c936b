import { refusal } from '../../kernel/errors.ts';
import { type GroupGraph, noGroups, sizeOfGraph } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { type Standing, standingOf } from '../permission/permission.ts';
import type { Realm } from '../realm/realm.ts';
import type { User } from './user.ts';

/**
 * The authenticated user, with their organization and rights. Read in every request, so that changes take effect at
 * once.
 */
export interface Caller {
  readonly realmId: string;
  readonly user: User;
  readonly standing: Standing;
  /** The standing of the owner of a bot: the bot has those rights too. */
  readonly owner?: Standing;
  readonly realm: Realm;
  readonly graph: GroupGraph;
}

/** Below this many edges (about 4 KB) a graph costs no more to read than its version. */
const MIN_CACHED_GRAPH = 400;

/**
 * Loads the graph of named groups. It can have 100 KB, so a container with a large cached graph reads only its
 * version. One round trip, or two if a large graph has changed.
 */
export async function loadGraph({ table, cache }: Outside, realm: string): Promise<GroupGraph> {
  const remembered = cache.graphs.get(realm);
  if (remembered !== undefined && sizeOfGraph(remembered) > MIN_CACHED_GRAPH) {
    const stored = await table.get('graphVersion', { realm });
    if ((stored?.version ?? noGroups.version) === remembered.version) return remembered;
  }
  const graph = (await table.get('groupGraph', { realm })) ?? noGroups;
  cache.graphs.set(realm, graph);
  return graph;
}

/** The ids of the named groups that have a user as a direct member. One round trip. */
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
 * Loads the caller. Throws `REALM_DEACTIVATED` if the organization is deactivated, and `UNAUTHORIZED` if it or the account
 * is unknown, or the account deactivated (wire facts 1.3). One round trip.
 */
export async function accessCaller(
  ...args: [
    outside: Outside,
    realmId: string,
    userId: number,
    ownerId: number | undefined,
    groupsOf?: typeof directGroups,
  ]
): Promise<Caller> {
  const caller = await loadCaller(...args);
  if (caller !== undefined) return caller;
  const [{ table }, realm] = args;
  const organization = await table.get('realm', { realm });
  throw refusal(organization?.deactivated ? 'organizationDeactivated' : 'unauthorized');
}

/** Stands for the groups of a user where nothing depends on them. It saves a query for each user. */
export const unreadGroups = async (): Promise<number[]> => [];

/**
 * Loads a user as a caller; undefined if the account or the organization is not active. `groupsOf` reads the groups of a
 * user. One round trip.
 */
export async function loadCaller(
  outside: Outside,
  realmId: string,
  userId: number,
  ownerId: number | undefined,
  groupsOf: typeof directGroups = directGroups,
): Promise<Caller | undefined> {
  const user = (id: number): Promise<User | undefined> =>
    outside.table.get('user', { realm: realmId, userId: id });
  const reading = loadGraph(outside, realmId);
  const [realm, graph, self, groups, owner, ownerGroups] = await Promise.all([
    outside.table.get('realm', { realm: realmId }),
    reading,
    user(userId),
    groupsOf(outside, realmId, userId, reading),
    ownerId === undefined ? undefined : user(ownerId),
    ownerId === undefined ? [] : groupsOf(outside, realmId, ownerId, reading),
  ]);
  if (realm === undefined || realm.deactivated || self === undefined || !self.isActive) return undefined;
  const standing = (who: User, direct: readonly number[]): Standing =>
    standingOf(who, direct, graph, realm.settings.waiting_period_threshold, outside.now());
  return {
    realmId,
    user: self,
    standing: standing(self, groups),
    // A deactivated owner gives the bot no rights.
    ...(owner?.isActive && { owner: standing(owner, ownerGroups) }),
    realm,
    graph,
  };
}

/** The same for a user whose ID is all that is known: a bot has the rights of its owner too. Two round trips. */
export async function loadCallerWithOwner(
  outside: Outside,
  realmId: string,
  userId: number,
): Promise<Caller | undefined> {
  const user = await outside.table.get('user', { realm: realmId, userId });
  return user && loadCaller(outside, realmId, userId, user.ownerId);
}
