import type { GroupGraph } from '../../kernel/group-graph.ts';
import type { Table } from '../../table/table.ts';
import { uniqueSorted } from '../../unique.ts';
import type { Caller } from '../user/caller.ts';
import { loadUsersById } from '../user/list.ts';
import { isSystemBot, type User } from '../user/user.ts';
import { subgroupsOf } from './graph.ts';
import type { Group } from './group.ts';
import { groupObject } from './object.ts';
import { roleGroupObjects } from './role-groups.ts';

/** The named groups of an organization with the ids of their direct members. */
export interface NamedGroups {
  readonly groups: readonly Group[];
  /** Group -> direct members, deactivated ones too. */
  readonly members: ReadonlyMap<number, readonly number[]>;
}

/**
 * Reads all named groups and who is in them: two round trips, whose cost is that of the list. `membersOf` may know
 * of a shorter way. The quota of groups keeps them to 1,000.
 */
export async function loadNamedGroups(
  table: Table,
  realm: string,
  membersOf = (groupId: number): Promise<number[]> => loadMemberIds(table, realm, groupId),
): Promise<NamedGroups> {
  const groups = await table.all('group', { realm });
  const members = await Promise.all(
    groups.map(async ({ groupId }) => [groupId, await membersOf(groupId)] as const),
  );
  return { groups, members: new Map(members) };
}

/** A named group as clients see it, with its active direct members; undefined if there is none. Two round trips. */
export async function loadGroupObject(table: Table, realm: string, graph: GroupGraph, groupId: number) {
  const [group, ids] = await Promise.all([
    table.get('group', { realm, groupId }),
    loadMemberIds(table, realm, groupId),
  ]);
  const users = await loadUsersById(table, realm, ids);
  const active = new Set(users.filter(({ isActive }) => isActive).map(({ userId }) => userId));
  const direct = ids.filter((userId) => active.has(userId));
  return group && groupObject(group, direct, subgroupsOf(graph, groupId));
}

/** The ids of a group's direct members, ascending; some may still be in a list (`group-arrival.ts`). One round trip. */
export async function loadMemberIds(table: Table, realm: string, groupId: number): Promise<number[]> {
  const members = await table.all('member', { realm, groupId });
  return uniqueSorted(members.flatMap((member) => ('userIds' in member ? member.userIds : member.userId)));
}

/**
 * All user groups as clients see them (wire facts 7), those of the roles first, each with its active direct
 * members. `users` are all users of the organization; `now` is in milliseconds.
 */
export function groupObjects(
  { realm, graph }: Pick<Caller, 'realm' | 'graph'>,
  { groups, members }: NamedGroups,
  users: readonly User[],
  options: { readonly includeDeactivated: boolean; readonly now: number },
) {
  const active = users.filter((user) => user.isActive && !isSystemBot(user));
  const activeIds = new Set(active.map(({ userId }) => userId));
  const named = groups
    .filter(({ deactivated }) => options.includeDeactivated || !deactivated)
    .map((group) => {
      const direct = (members.get(group.groupId) ?? []).filter((userId) => activeIds.has(userId));
      return groupObject(group, direct, subgroupsOf(graph, group.groupId));
    });
  const { waiting_period_threshold: waitingDays } = realm.settings;
  return [...roleGroupObjects(active, waitingDays, options.now), ...named];
}
