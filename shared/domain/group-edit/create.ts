import { badRequest, refusal } from '../../kernel/errors.ts';
import type { ListSource } from '../../kernel/list-cache.ts';
import type { GroupGraph } from '../../kernel/lookup.ts';
import { checkQuota, doUseQuota, loadQuotaUse } from '../../kernel/quota.ts';
import { uniqueSorted } from '../../lists.ts';
import { type Change, MAX_WRITES } from '../../log/commit.ts';
import { eventForEveryone } from '../../log/slot.ts';
import { checkGraphRoom, checkSubgroups, doSetSubgroups, subgroupsEvent } from '../../model/group/graph.ts';
import {
  checkGroupDescription,
  checkGroupName,
  fitsGroupName,
  type GroupPermission,
  groupBytes,
  groupObject,
  groupPermissionRules,
  groupPermissions,
} from '../../model/group/group.ts';
import { checkMembers, doJoinGroup, loadGroups, loadPeople } from '../../model/group/member.ts';
import { checkNewSettings, doUseGroups, loadSettingReferences } from '../../model/group/setting.ts';
import { type GroupSetting, holdsUnlessGuest } from '../../model/permission/permission.ts';
import type { Caller } from '../../model/user/caller.ts';
import { key } from '../../table/keys.ts';
import { keyOf, type Write } from '../../table/write.ts';
import { doAddPendingMembers } from './pending-members.ts';

/** The parameters of a new group (specification 4.5). */
export interface NewGroupInput extends Partial<Readonly<Record<GroupPermission, GroupSetting | undefined>>> {
  readonly name: string;
  readonly description: string;
  readonly members: readonly number[];
  readonly subgroups?: readonly number[];
}

/** Loads the snapshot for creating a group. One round trip. */
export async function loadCreationSnapshot(source: ListSource, realm: string, given: NewGroupInput) {
  const { table } = source;
  const [named, users, groups, holder, bytes] = await Promise.all([
    loadSettingReferences(
      table,
      realm,
      groupPermissions.flatMap((name) => given[name] ?? []),
    ),
    loadPeople(source, realm, given.members),
    loadGroups(table, realm, given.subgroups ?? []),
    fitsGroupName(given.name) ? table.get('groupName', { realm, name: given.name }) : undefined,
    loadQuotaUse(table, realm, 'groups'),
  ]);
  return { named, users, groups, isNameTaken: holder !== undefined, bytes };
}

/** The error for a name of another group. Deactivated groups keep their names (wire facts 7). */
export const nameIsTaken = (name: string) => badRequest(`There is already a user group named '${name}'.`);

/**
 * Checks a new group, in the order of wire facts 7. Its creator may add any subgroups (specification 4.5).
 *
 * @param now milliseconds
 */
export function checkCreateGroup(
  { standing, realm, user, graph }: Caller,
  given: NewGroupInput,
  snapshot: Awaited<ReturnType<typeof loadCreationSnapshot>>,
  now: number,
) {
  if (!holdsUnlessGuest(standing, realm.settings.can_create_groups)) {
    throw refusal('insufficientPermission');
  }
  const name = checkGroupName(given.name);
  const members = uniqueSorted(given.members);
  checkMembers(members, snapshot.users);
  const description = checkGroupDescription(given.description);
  const settings = checkNewSettings(groupPermissionRules, user.userId, given, snapshot.named);
  if (snapshot.isNameTaken) throw nameIsTaken(name);
  const subgroups = uniqueSorted(given.subgroups ?? []);
  checkSubgroups(subgroups, snapshot.groups);
  checkGraphRoom(graph, subgroups.length);
  checkQuota('groups', snapshot.bytes, groupBytes({ name, description, settings }, members.length));
  return {
    group: {
      name,
      description,
      creatorId: user.userId,
      dateCreated: Math.floor(now / 1000),
      deactivated: false,
      settings,
    },
    members,
    subgroups,
  };
}

type NewGroup = ReturnType<typeof checkCreateGroup>;

/** The number of events of a new group. Subgroups have an event of their own, as clients expect (wire facts 7). */
export const eventsOfCreation = ({ subgroups = [] }: Pick<NewGroupInput, 'subgroups'>): number =>
  subgroups.length === 0 ? 1 : 2;

/** Whether the members do not fit in the transaction that creates the group. */
export const isLargeGroup = (realm: string, graph: GroupGraph, created: NewGroup): boolean =>
  doCreate(realm, graph, created, 0, false).length + 2 * created.members.length >= MAX_WRITES;

/**
 * Creates a group: the item, its name, the uses of other groups, its subgroups, its members, and the events. The
 * result is its id. The members of a large group are stored as lists with the outbox job `job`. `now` is in
 * milliseconds.
 */
export function doCreateGroup(
  realm: string,
  graph: GroupGraph,
  created: NewGroup,
  groupId: number,
  later: { readonly job: string; readonly now: number },
): Change<number> {
  const { group, members, subgroups } = created;
  const isLarge = isLargeGroup(realm, graph, created);
  const memberWrites = isLarge
    ? doAddPendingMembers(realm, groupId, members, later)
    : members.flatMap((userId) => doJoinGroup(realm, groupId, userId, false));
  const payload = {
    type: 'user_group',
    op: 'add',
    group: groupObject({ ...group, groupId, version: 1 }, members, []),
  };
  return {
    writes: [...doCreate(realm, graph, created, groupId, isLarge), ...memberWrites],
    entries: [
      eventForEveryone(payload, { access: true }),
      ...(subgroups.length === 0 ? [] : [subgroupsEvent('add_subgroups', groupId, subgroups)]),
    ],
    result: groupId,
  };
}

/** Creates a group without its memberships. */
function doCreate(
  realm: string,
  graph: GroupGraph,
  { group, members, subgroups }: NewGroup,
  groupId: number,
  isLarge: boolean,
): Write[] {
  const item = { ...group, groupId, version: 1, ...(isLarge && { isArriving: true }) };
  const arriving = isLarge && { arriving: { ...graph.arriving, [String(groupId)]: members } };
  const uses = doUseGroups(realm, { groupId }, [], Object.values(group.settings));
  // One write per item: if a subgroup is also in use by a setting, that write already checks it.
  const isHeld = (write: Write): boolean => uses.some((use) => keyOf(use).pk === keyOf(write).pk);
  const graphWrites =
    subgroups.length > 0 || arriving ? doSetSubgroups(realm, graph, groupId, subgroups, { ...arriving }) : [];
  return [
    { put: key('group', { realm, groupId }), item },
    { put: key('groupName', { realm, name: group.name }), item: { groupId }, when: { absent: true } },
    ...doUseQuota(realm, 'groups', groupBytes(group, members.length)),
    ...uses,
    ...graphWrites.filter((write) => !isHeld(write)),
  ];
}
