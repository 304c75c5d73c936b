import { badRequest } from '../../kernel/errors.ts';
import type { GroupGraph } from '../../kernel/lookup.ts';
import { isId } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { checkQuota, doUseQuota, loadQuotaUse, MEMBER_BYTES } from '../../kernel/quota.ts';
import type { Commit } from '../../log/bulk.ts';
import type { Change } from '../../log/commit.ts';
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
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { uniqueSorted } from '../../unique.ts';
import { forDeactivatedGroup } from './edit.ts';
import { storePendingMembersFirst } from './pending-members.ts';

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
  given: {
    readonly [K in keyof MemberChange]?: readonly number[] | undefined;
  },
): MemberChange => ({
  add: uniqueSorted(given.add ?? []),
  remove: uniqueSorted(given.remove ?? []),
  addSubgroups: uniqueSorted(given.addSubgroups ?? []),
  removeSubgroups: uniqueSorted(given.removeSubgroups ?? []),
});

/** The snapshot for a change of members. */
export interface MemberSnapshot {
  readonly group: Group | undefined;
  readonly users: ReadonlyMap<number, User>;
  /** The users among them who are direct members. */
  readonly members: ReadonlySet<number>;
  /** The groups to add. */
  readonly groups: ReadonlyMap<number, Group>;
  /** The quota that the groups of the organization use. */
  readonly bytes: number;
}

/** Loads the snapshot. One round trip. */
export async function loadMemberSnapshot(
  table: Table,
  realm: string,
  groupId: number,
  change: MemberChange,
): Promise<MemberSnapshot> {
  const people = isId(groupId) ? uniqueSorted([...change.add, ...change.remove]).filter(isId) : [];
  const [groups, users, memberships, bytes] = await Promise.all([
    loadGroups(table, realm, [groupId, ...change.addSubgroups]),
    loadPeople(table, realm, people),
    table.getMany(people.map((userId) => key('membership', { realm, userId, groupId }))),
    loadQuotaUse(table, realm, 'groups'),
  ]);
  return {
    group: groups.get(groupId),
    users,
    members: new Set(memberships.map(({ userId }) => userId)),
    groups,
    bytes,
  };
}

/** A change that passed the checks. */
interface DecidedMemberChange {
  readonly group: Group;
  readonly change: MemberChange;
  readonly joining: readonly number[];
  readonly leaving: readonly number[];
  /** The new list of subgroups; absent if unchanged. */
  readonly subgroups?: readonly number[];
}

/** The permissions that allow a change: one more if the caller adds or removes only themselves. */
const permissionsFor = (
  people: readonly number[],
  callerId: number,
  self: GroupPermission,
  others: GroupPermission,
): GroupPermission[] => (people.length === 1 && people[0] === callerId ? [self, others] : [others]);

/** Checks the permissions of the caller: additions before removals, as in the reference. */
function checkMayChange(
  caller: Caller,
  groupId: number,
  { add, remove, addSubgroups, removeSubgroups }: MemberChange,
  snapshot: MemberSnapshot,
): void {
  const count = add.length + remove.length + addSubgroups.length + removeSubgroups.length;
  if (count === 0) throw badRequest('Nothing to do: name somebody to add or to delete.');
  if (count > MAX_CHANGED) {
    throw badRequest(`One request can change at most ${MAX_CHANGED} members and subgroups of a group.`);
  }
  const access = (...permissions: GroupPermission[]): Group =>
    accessGroup(caller, groupId, snapshot.group, ...permissions);
  const { userId } = caller.user;
  if (add.length > 0) access(...permissionsFor(add, userId, 'can_join_group', 'can_add_members_group'));
  if (remove.length > 0) {
    access(...permissionsFor(remove, userId, 'can_leave_group', 'can_remove_members_group'));
  }
  if (addSubgroups.length > 0) access('can_add_members_group');
  if (removeSubgroups.length > 0) access();
}

/**
 * Checks the users and groups of a change, users first, as in the reference. A user who is both added and removed
 * stays as they are.
 */
function checkMemberChange(
  caller: Caller,
  groupId: number,
  change: MemberChange,
  snapshot: MemberSnapshot,
): DecidedMemberChange {
  const { add, remove } = change;
  checkPeople(change, snapshot);
  const subgroups = checkGroups(caller.graph, groupId, change, snapshot);
  const joining = add.filter((id) => !remove.includes(id));
  const leaving = remove.filter((id) => !add.includes(id));
  checkQuota('groups', snapshot.bytes, bytesOfMembers(joining.length - leaving.length));
  return { group: snapshot.group as Group, change, joining, leaving, ...(subgroups && { subgroups }) };
}

const bytesOfMembers = (more: number): number => more * MEMBER_BYTES;

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
  const events: [readonly number[], (ids: readonly number[]) => EventEntry][] = [
    [add, (ids) => membersEvent('add_members', group, ids)],
    [remove, (ids) => membersEvent('remove_members', group, ids)],
    [addSubgroups, (ids) => subgroupsEvent('add_subgroups', group, ids)],
    [removeSubgroups, (ids) => subgroupsEvent('remove_subgroups', group, ids)],
  ];
  const visibility = (op: 'create' | 'delete', members: readonly number[], subgroups: readonly number[]) =>
    members.length + subgroups.length === 0
      ? []
      : [channelsThroughGroupEvent(op, { group, members, subgroups })];
  return [
    ...events
      .flatMap(([ids, event]) => (ids.length > 0 ? [event(ids)] : []))
      .map((event) => (deactivated ? forDeactivatedGroup(event) : event)),
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
  checkMayChange(caller, groupId, change, snapshot);
  const hasPeople = change.add.length + change.remove.length > 0;
  if (hasPeople) await storePendingMembersFirst(outside, caller.realmId, snapshot.group);
  const decided = checkMemberChange(caller, groupId, change, snapshot);
  return commit(eventsOfChange(change), () => doChangeMembers(caller.realmId, caller.graph, decided));
}

/** Changes members and subgroups, on condition that the group and its settings are unchanged. */
function doChangeMembers(
  realm: string,
  graph: GroupGraph,
  { group, change, joining, leaving, subgroups }: DecidedMemberChange,
): Change<Record<string, never>> {
  const { groupId, version } = group;
  return {
    writes: [
      {
        update: key('group', { realm, groupId }),
        change: {},
        when: { equals: { version } },
        lastWriterWins: true,
      },
      ...joining.flatMap((userId) => doJoinGroup(realm, groupId, userId, true)),
      ...leaving.flatMap((userId) => doLeaveGroup(realm, groupId, userId)),
      ...doUseQuota(realm, 'groups', bytesOfMembers(joining.length - leaving.length)),
      ...(subgroups ? doSetSubgroups(realm, graph, groupId, subgroups) : []),
    ],
    entries: eventsFor(group, change),
    result: {},
  };
}
