import { key, partition, sortPrefix } from '../table/keys.ts';
import type { Item } from '../table/write.ts';
import type { Outside } from './outside.ts';
import { type GroupGraph, noGroups, type Standing, standingOf } from './permission.ts';
import { refusal } from './problems.ts';
import type { Realm } from './realm/realm.ts';
import type { User } from './user/user.ts';

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

/** The ids of the named groups that a person is a direct member of. One round trip. */
export async function directGroups(outside: Outside, realm: string, userId: number): Promise<number[]> {
  const [memberships, graph] = await Promise.all([
    outside.table.all<Item & { groupId: number }>({
      pk: partition('membership', { realm, userId }),
      prefix: sortPrefix('membership'),
    }),
    outside.table.get<GroupGraph>(key('groupGraph', { realm })),
  ]);
  const arriving = Object.entries(graph?.arriving ?? {}).filter(([, members]) => members.includes(userId));
  return [...new Set([...memberships.map(({ groupId }) => groupId), ...arriving.map(([id]) => Number(id))])];
}

/**
 * Loads the caller, or refuses: an unknown or deactivated account, or a deactivated organization, is
 * `UNAUTHORIZED` (wire facts 1.3). One round trip.
 */
export async function accessCaller(
  outside: Outside,
  realmId: string,
  userId: number,
  ownerId: number | undefined,
): Promise<Caller> {
  const user = (id: number): Promise<User | undefined> =>
    outside.table.get<User>(key('user', { realm: realmId, userId: id }));
  const [realm, graph, self, groups, owner, ownerGroups] = await Promise.all([
    outside.table.get<Realm>(key('realm', { realm: realmId })),
    outside.table.get<GroupGraph>(key('groupGraph', { realm: realmId })),
    user(userId),
    directGroups(outside, realmId, userId),
    ownerId === undefined ? undefined : user(ownerId),
    ownerId === undefined ? [] : directGroups(outside, realmId, ownerId),
  ]);
  if (realm === undefined || realm.deactivated || self === undefined || !self.isActive)
    throw refusal('unauthorized');
  const standing = (who: User, direct: readonly number[]): Standing =>
    standingOf(who, direct, graph ?? noGroups, realm.settings.waiting_period_threshold, outside.now());
  return {
    realmId,
    user: self,
    standing: standing(self, groups),
    // A deactivated owner lends no rights.
    ...(owner?.isActive && { owner: standing(owner, ownerGroups) }),
    realm,
    graph: graph ?? noGroups,
  };
}
