import { badRequest } from '../../kernel/errors.ts';
import type { ListSource } from '../../kernel/list-cache.ts';
import { type GroupGraph, isId } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { checkQuota, doUseQuota, loadQuotaUse, MEMBER_BYTES } from '../../kernel/quota.ts';
import { uniqueSorted } from '../../lists.ts';
import type { Commit } from '../../log/bulk.ts';
import { type Change, ConflictError } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import { checkGraphRoom, checkSubgroups, doSetSubgroups, subgroupsEvent } from '../../model/group/graph.ts';
import { accessGroup, type Group, type GroupPermission } from '../../model/group/group.ts';
import {
  checkMembers,
  doJoinGroup,
  doLeaveGroup,
  loadGroups,
  loadPeople,
  membersEvent,
} from '../../model/group/member.ts';
import { channelsThroughGroupEvent } from '../../model/group/role-groups.ts';
import { makesCycle, subgroupsOf } from '../../model/permission/permission.ts';
import type { Caller } from '../../model/user/caller.ts';
import { key } from '../../table/keys.ts';
import { hasVersion } from '../../table/write.ts';
import { forDeactivatedGroup } from './edit.ts';
import { storePendingMembers } from './pending-members.ts';

/** Most users and groups that one request may add and remove: one transaction of 100 writes, two for each user. */
const MAX_CHANGED = 45;

/** The users and groups that a request adds and removes. */
export interface MemberChange {
  readonly add: readonly number[];
  readonly remove: readonly number[];
  readonly addSubgroups: readonly number[];
  readonly removeSubgroups: readonly number[];
}

/** The change with each id once. */
export const memberChange = (
  given: { readonly [K in keyof MemberChange]?: readonly number[] | undefined },
): MemberChange => ({
  add: uniqueSorted(given.add ?? []),
  remove: uniqueSorted(given.remove ?? []),
  addSubgroups: uniqueSorted(given.addSubgroups ?? []),
  removeSubgroups: uniqueSorted(given.removeSubgroups ?? []),
});

/** Loads the snapshot for a change of members: `members` are those of `users` who are direct members. One round trip. */
export async function loadMemberSnapshot(
  source: ListSource,
  realm: string,
  groupId: number,
  change: MemberChange,
) {
  const { table } = source;
  const people = isId(groupId) ? uniqueSorted([...change.add, ...change.remove]).filter(isId) : [];
  const [groups, users, memberships, bytes] = await Promise.all([
    loadGroups(table, realm, [groupId, ...change.addSubgroups]),
    loadPeople(source, realm, people),
    table.getMany(people.map((userId) => key('membership', { realm, userId, groupId }))),
    loadQuotaUse(table, realm, 'groups'),
  ]);
  const members = new Set(memberships.map(({ userId }) => userId));
  return { group: groups.get(groupId), users, members, groups, bytes };
}

type MemberSnapshot = Awaited<ReturnType<typeof loadMemberSnapshot>>;

/** Checks the permissions of the caller: additions before removals, as in the reference. */
function accessForChange(
  caller: Caller,
  groupId: number,
  { add, remove, addSubgroups, removeSubgroups }: MemberChange,
  snapshot: MemberSnapshot,
): Group {
  const count = add.length + remove.length + addSubgroups.length + removeSubgroups.length;
  if (count === 0) throw badRequest('Nothing to do: name a user or a group to add or to delete.');
  if (count > MAX_CHANGED) {
    throw badRequest(`One request can change at most ${MAX_CHANGED} members and subgroups of a group.`);
  }
  const access = (...permissions: GroupPermission[]): Group =>
    accessGroup(caller, groupId, snapshot.group, ...permissions);
  const isSelf = (people: readonly number[]): boolean =>
    people.length === 1 && people[0] === caller.user.userId;
  if (add.length > 0) access('can_add_members_group', ...(isSelf(add) ? ['can_join_group' as const] : []));
  if (remove.length > 0) {
    access('can_remove_members_group', ...(isSelf(remove) ? ['can_leave_group' as const] : []));
  }
  if (addSubgroups.length > 0) access('can_add_members_group');
  return removeSubgroups.length > 0 ? access() : (snapshot.group as Group);
}

/**
 * Checks the users and groups of a change, users first, as in the reference. A user who is both added and removed
 * stays as they are. `bytes` is the quota that the change takes.
 */
function checkMemberChange(caller: Caller, group: Group, change: MemberChange, snapshot: MemberSnapshot) {
  const { add, remove } = change;
  checkPeople(change, snapshot);
  const subgroups = checkGroups(caller.graph, group.groupId, change, snapshot);
  const joining = add.filter((id) => !remove.includes(id));
  const leaving = remove.filter((id) => !add.includes(id));
  const bytes = (joining.length - leaving.length) * MEMBER_BYTES;
  checkQuota('groups', snapshot.bytes, bytes);
  return { group, change, joining, leaving, subgroups, bytes };
}

function checkPeople({ add, remove }: MemberChange, { users, members }: MemberSnapshot): void {
  checkMembers([...add, ...remove], users);
  const known = add.find((id) => members.has(id));
  if (known !== undefined) throw badRequest(`User ${known} is already a member of this group.`);
  const unknown = remove.find((id) => !members.has(id) && !add.includes(id));
  if (unknown !== undefined) throw badRequest(`User ${unknown} is not a member of this group.`);
}

/** Checks the subgroups. Returns the new list, or undefined if it is unchanged. */
function checkGroups(
  graph: GroupGraph,
  groupId: number,
  { addSubgroups, removeSubgroups }: MemberChange,
  { groups }: MemberSnapshot,
): readonly number[] | undefined {
  const before = subgroupsOf(graph, groupId);
  checkSubgroups(addSubgroups, groups);
  const known = addSubgroups.find((id) => before.includes(id));
  if (known !== undefined) throw badRequest(`User group ${known} is already a subgroup of this group.`);
  if (addSubgroups.length > 0 && makesCycle(graph, groupId, addSubgroups)) {
    throw badRequest('A user group cannot contain itself, not even through another group.');
  }
  const between = [...before, ...addSubgroups];
  const unknown = removeSubgroups.find((id) => !between.includes(id));
  if (unknown !== undefined) throw badRequest(`User group ${unknown} is not a subgroup of this group.`);
  const after = uniqueSorted(between.filter((id) => !removeSubgroups.includes(id)));
  if (after.length === before.length && after.every((id) => before.includes(id))) return undefined;
  checkGraphRoom(graph, after.length - before.length);
  return after;
}

/** The number of events of a change. */
export const eventsOfChange = (change: MemberChange): number =>
  eventsFor({ groupId: 0, deactivated: false }, change).length;

/** The events of a change: the members for everyone, and the channels that become visible or hidden to them. */
function eventsFor(
  { groupId: group, deactivated }: Pick<Group, 'groupId' | 'deactivated'>,
  { add, remove, addSubgroups, removeSubgroups }: MemberChange,
): readonly EventEntry[] {
  const changes = [
    ...(add.length > 0 ? [membersEvent('add_members', group, add)] : []),
    ...(remove.length > 0 ? [membersEvent('remove_members', group, remove)] : []),
    ...(addSubgroups.length > 0 ? [subgroupsEvent('add_subgroups', group, addSubgroups)] : []),
    ...(removeSubgroups.length > 0 ? [subgroupsEvent('remove_subgroups', group, removeSubgroups)] : []),
  ];
  const visibility = (op: 'create' | 'delete', members: readonly number[], subgroups: readonly number[]) =>
    members.length + subgroups.length === 0
      ? []
      : [channelsThroughGroupEvent(op, { group, members, subgroups })];
  return [
    ...(deactivated ? changes.map(forDeactivatedGroup) : changes),
    ...visibility('create', add, addSubgroups),
    ...visibility('delete', remove, removeSubgroups),
  ];
}

/**
 * Checks a change of members and commits it in one transaction.
 *
 * @throws ConflictError if members were pending when they were read
 */
export async function changeMembers(
  outside: Outside,
  caller: Caller,
  commit: Commit,
  groupId: number,
  change: MemberChange,
  snapshot: MemberSnapshot,
): Promise<Record<string, never>> {
  const group = accessForChange(caller, groupId, change, snapshot);
  const hasPeople = change.add.length + change.remove.length > 0;
  if (hasPeople && group.isArriving) {
    await storePendingMembers(outside, caller.realmId, groupId);
    // The snapshot does not include them.
    throw new ConflictError([]);
  }
  const decided = checkMemberChange(caller, group, change, snapshot);
  return commit(eventsOfChange(change), () => doChangeMembers(caller.realmId, caller.graph, decided));
}

/** Changes members and subgroups, on condition that the group and its settings are unchanged. */
function doChangeMembers(
  realm: string,
  graph: GroupGraph,
  { group, change, joining, leaving, subgroups, bytes }: ReturnType<typeof checkMemberChange>,
): Change<Record<string, never>> {
  const { groupId, version } = group;
  return {
    writes: [
      {
        update: key('group', { realm, groupId }),
        change: {},
        when: hasVersion(version),
        lastWriterWins: true,
      },
      ...joining.flatMap((userId) => doJoinGroup(realm, groupId, userId, true)),
      ...leaving.flatMap((userId) => doLeaveGroup(realm, groupId, userId)),
      ...doUseQuota(realm, 'groups', bytes),
      ...(subgroups ? doSetSubgroups(realm, graph, groupId, subgroups) : []),
    ],
    entries: eventsFor(group, change),
    result: {},
  };
}
