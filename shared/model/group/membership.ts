import { badRequest } from '../../kernel/errors.ts';
import type { GroupGraph } from '../../kernel/group-graph.ts';
import { isId } from '../../kernel/id.ts';
import type { Table } from '../../table/table.ts';
import { isFullMember } from '../permission/permission.ts';
import { isSystemGroup } from '../permission/system-group.ts';
import { loadUsers, loadUsersById } from '../user/list.ts';
import { isSystemBot, type User } from '../user/user.ts';
import { allSubgroupsOf } from './graph.ts';
import type { Group } from './group.ts';
import { loadMemberIds } from './list.ts';
import { roleGroups } from './role-groups.ts';

/** Decides whether there is a group with this id to look at; deactivated ones can be. */
export function checkGroupExists(groupId: number, group: Group | undefined): void {
  if (!isSystemGroup(groupId) && group === undefined) throw badRequest('Invalid user group.');
}

/** Reads a named group; undefined for an id that no named group has. One round trip. */
export const loadGroup = async (table: Table, realm: string, groupId: number): Promise<Group | undefined> =>
  isId(groupId) && !isSystemGroup(groupId) ? table.get('group', { realm, groupId }) : undefined;

/** Who may be in a group, before it is known who of them is. */
export interface Candidates {
  readonly group: Group | undefined;
  /** Those who are put into the group, or into a named group within it. */
  readonly listed: ReadonlySet<number>;
  /** The groups of roles in it: whoever has the role is a member. */
  readonly roleGroups: ReadonlySet<number>;
  /** Among others, everybody who may be a member. */
  readonly users: readonly User[];
}

/**
 * Reads who may be in a group, directly or (unless `directOnly`) through groups in it, in two round trips. It costs
 * what these groups and their members do; with a group of a role among them, what the list of all users does, since
 * who has a role is not kept apart.
 */
export async function loadCandidates(
  table: Table,
  realm: string,
  graph: GroupGraph,
  groupId: number,
  directOnly: boolean,
): Promise<Candidates> {
  const within = [groupId, ...(directOnly ? [] : allSubgroupsOf(graph, groupId))];
  const roleGroups = new Set(within.filter(isSystemGroup));
  const [group, everybody, ...lists] = await Promise.all([
    loadGroup(table, realm, groupId),
    roleGroups.size > 0 ? loadUsers(table, realm) : undefined,
    ...within.filter((id) => isId(id) && !isSystemGroup(id)).map((id) => loadMemberIds(table, realm, id)),
  ]);
  const listed = new Set(lists.flat());
  const users = everybody ?? (await loadUsersById(table, realm, [...listed]));
  return { group, listed, roleGroups, users };
}

/**
 * The active members among the candidates, in rising order.
 *
 * @param waitingDays days until a member is a full member
 * @param now milliseconds
 */
export const membersAmong = (candidates: Candidates, waitingDays: number, now: number): number[] =>
  candidates.users
    .filter((user) => user.isActive && !isSystemBot(user))
    .filter(
      ({ userId, role, dateJoined }) =>
        candidates.listed.has(userId) ||
        roleGroups(role, isFullMember({ dateJoined }, waitingDays, now)).some((id) =>
          candidates.roleGroups.has(id),
        ),
    )
    .map(({ userId }) => userId)
    .sort((a, b) => a - b);
