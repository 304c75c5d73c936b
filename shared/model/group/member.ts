import { badRequest } from '../../kernel/errors.ts';
import { type ListSource, loadList } from '../../kernel/list-cache.ts';
import { type GroupGraph, isId } from '../../kernel/lookup.ts';
import { uniqueSorted } from '../../lists.ts';
import { type EventEntry, eventForEveryone } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Listed } from '../../table/remembered-lists.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import {
  isFullMember,
  isSystemGroup,
  roleGroups,
  subgroupsOf,
  withSubgroups,
} from '../permission/permission.ts';
import type { Caller } from '../user/caller.ts';
import { loadUsers, loadUsersById } from '../user/principals.ts';
import { isSystemBot } from '../user/user.ts';
import { type Group, groupObject } from './group.ts';
import { roleGroupObjects } from './role-groups.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    membership: Member;
    member: Member | Arrivals;
  }
}

/** Loads the existing users with these ids. */
export async function loadPeople(
  source: ListSource,
  realm: string,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Listed<'user'>>> {
  const users = await loadUsersById(source, realm, ids);
  return new Map(users.map((user) => [user.userId, user]));
}

/** Loads the existing named groups with these ids. */
export async function loadGroups(
  table: Table,
  realm: string,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Group>> {
  const groups = await table.getMany(
    uniqueSorted(ids)
      .filter((groupId) => isId(groupId) && !isSystemGroup(groupId))
      .map((groupId) => key('group', { realm, groupId })),
  );
  return new Map(groups.map((group) => [group.groupId, group]));
}

/** Checks that users exist and are active, so that they can be added or removed (specification 4.5). */
export function checkMembers(ids: readonly number[], users: ReadonlyMap<number, Listed<'user'>>): void {
  const invalid = ids.find((id) => users.get(id)?.isActive !== true);
  if (invalid !== undefined) throw badRequest(`Invalid user ID: ${invalid}.`);
}

interface Member {
  readonly userId: number;
  readonly groupId: number;
}

/** Pending members: their memberships are not stored one by one yet (`pending-members.ts`). */
interface Arrivals {
  readonly userIds: readonly number[];
}

/** Makes a user a direct member. With `isNew` it fails if they are one already. */
export const doJoinGroup = (realm: string, groupId: number, userId: number, isNew: boolean): Write[] => {
  const membership: Write = {
    put: key('membership', { realm, userId, groupId }),
    item: { userId, groupId },
    ...(isNew && { when: { absent: true } }),
  };
  return [membership, { put: key('member', { realm, groupId, userId }), item: { userId, groupId } }];
};

/** Removes a direct membership. Fails if there is none. */
export const doLeaveGroup = (realm: string, groupId: number, userId: number): Write[] => [
  { delete: key('membership', { realm, userId, groupId }), when: { absent: false } },
  { delete: key('member', { realm, groupId, userId }) },
];

/** The event that members were added or removed. */
export const membersEvent = (
  op: 'add_members' | 'remove_members',
  groupId: number,
  userIds: readonly number[],
): EventEntry =>
  eventForEveryone({ type: 'user_group', op, group_id: groupId, user_ids: userIds }, { access: true });

/** The named groups of an organization, with the ids of their direct members. */
export interface NamedGroups {
  readonly groups: readonly Group[];
  /** Group -> direct members, including deactivated ones. */
  readonly members: ReadonlyMap<number, readonly number[]>;
}

/**
 * Loads all named groups (`loadList`, where `whole` is explained) and their members. Two round trips, seldom three.
 * `membersOf` can replace the read of members. The quota limits an organization to 1,000 groups.
 */
export async function loadNamedGroups(
  source: ListSource,
  realm: string,
  whole?: number,
  membersOf = (groupId: number): Promise<number[]> => loadMemberIds(source.table, realm, groupId),
): Promise<NamedGroups> {
  const groups = await loadList(source, 'group', realm, whole);
  const members = await Promise.all(
    groups.map(async ({ groupId }) => [groupId, await membersOf(groupId)] as const),
  );
  return { groups, members: new Map(members) };
}

/**
 * A named group as clients see it, with its active direct members; undefined if it does not exist. Two round trips.
 */
export async function loadGroupObject(source: ListSource, realm: string, graph: GroupGraph, groupId: number) {
  const { table } = source;
  const [group, ids] = await Promise.all([
    table.get('group', { realm, groupId }),
    loadMemberIds(table, realm, groupId),
  ]);
  const users = await loadUsersById(source, realm, ids);
  const active = new Set(users.filter(({ isActive }) => isActive).map(({ userId }) => userId));
  const direct = ids.filter((userId) => active.has(userId));
  return group && groupObject(group, direct, subgroupsOf(graph, groupId));
}

/** The ids of the direct members of a group, ascending, including pending ones. One round trip. */
export async function loadMemberIds(table: Table, realm: string, groupId: number): Promise<number[]> {
  const members = await table.all('member', { realm, groupId });
  return uniqueSorted(members.flatMap((member) => ('userIds' in member ? member.userIds : member.userId)));
}

/**
 * All user groups as clients see them (wire facts 7), system groups first, with active direct members. `users` are
 * all users of the organization; `now` is in milliseconds.
 */
export function groupObjects(
  { realm, graph }: Pick<Caller, 'realm' | 'graph'>,
  { groups, members }: NamedGroups,
  users: readonly Listed<'user'>[],
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

/** Refuses an unknown group. Deactivated groups exist. */
export function checkGroupExists(groupId: number, group: Group | undefined): void {
  if (!isSystemGroup(groupId) && group === undefined) throw badRequest('Invalid user group.');
}

/** Loads a named group, if it exists. One round trip. */
export const loadGroup = async (table: Table, realm: string, groupId: number): Promise<Group | undefined> =>
  isId(groupId) && !isSystemGroup(groupId) ? table.get('group', { realm, groupId }) : undefined;

/** Possible members of a group, before roles are evaluated. */
export interface Candidates {
  readonly group: Group | undefined;
  /** Direct members of the group, or of named groups in it. */
  readonly listed: ReadonlySet<number>;
  /** System groups in the group: everyone with the role is a member. */
  readonly roleGroups: ReadonlySet<number>;
  /** Includes all possible members. */
  readonly users: readonly Listed<'user'>[];
}

/**
 * Loads the possible members of a group, directly or (unless `directOnly`) through its subgroups. Two round trips. If
 * a system group is among them, all users are read.
 */
export async function loadCandidates(
  source: ListSource,
  realm: string,
  graph: GroupGraph,
  groupId: number,
  directOnly: boolean,
): Promise<Candidates> {
  const { table } = source;
  const within = directOnly ? [groupId] : [...withSubgroups(graph, [groupId])];
  const roleGroups = new Set(within.filter(isSystemGroup));
  const [group, everybody, ...lists] = await Promise.all([
    loadGroup(table, realm, groupId),
    roleGroups.size > 0 ? loadUsers(source, realm) : undefined,
    ...within.filter((id) => isId(id) && !isSystemGroup(id)).map((id) => loadMemberIds(table, realm, id)),
  ]);
  const listed = new Set(lists.flat());
  const users = everybody ?? (await loadUsersById(source, realm, [...listed]));
  return { group, listed, roleGroups, users };
}

/**
 * The active members among the candidates, ascending.
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
