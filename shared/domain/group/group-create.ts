import type { Change } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { keyOf, type Write } from '../../table/write.ts';
import type { Caller } from '../caller.ts';
import { type GroupGraph, holdsUnlessGuest } from '../permission.ts';
import { badRequest, refusal } from '../problems.ts';
import type { User } from '../user/user.ts';
import type { Group } from './group.ts';
import { checkGraphRoom, checkSubgroups, doSetSubgroups, subgroupsEvent } from './group-graph.ts';
import { checkMembers, doJoinGroup, eachOnce, loadGroups, loadPeople } from './group-member.ts';
import { groupObject } from './group-object.ts';
import { checkNewGroupSettings, type GivenGroupSettings, givenGroupSettings } from './group-permissions.ts';
import { loadNamedInSettings, type NamedInSettings } from './group-setting-check.ts';
import { checkGroupDescription, checkGroupName, fitsGroupName } from './group-text.ts';
import { doUseGroups } from './group-use.ts';

/** What a request says of the group that it creates, under the wire names (specification 4.5). */
export interface GroupToCreate extends GivenGroupSettings {
  readonly name: string;
  readonly description: string;
  readonly members: readonly number[];
  readonly subgroups?: readonly number[];
}

/** What the creation of a group is decided on. */
export interface CreationGround {
  readonly named: NamedInSettings;
  readonly users: ReadonlyMap<number, User>;
  readonly groups: ReadonlyMap<number, Group>;
  /** Another group bears the name. */
  readonly isNameTaken: boolean;
}

/** Reads all of it in one round trip. */
export async function loadCreationGround(
  table: Table,
  realm: string,
  given: GroupToCreate,
): Promise<CreationGround> {
  const [named, users, groups, holder] = await Promise.all([
    loadNamedInSettings(table, realm, givenGroupSettings(given)),
    loadPeople(table, realm, given.members),
    loadGroups(table, realm, given.subgroups ?? []),
    fitsGroupName(given.name) ? table.get(key('groupName', { realm, name: given.name })) : undefined,
  ]);
  return { named, users, groups, isNameTaken: holder !== undefined };
}

/** A group that was decided on, before it has an id. */
export interface NewGroup {
  readonly group: Omit<Group, 'groupId' | 'version'>;
  readonly members: readonly number[];
  readonly subgroups: readonly number[];
}

/** The refusal of a name that another group has; deactivated groups keep theirs (wire facts 7). */
export const nameIsTaken = (name: string) => badRequest(`There is already a user group named '${name}'.`);

/**
 * Decides on a new group, in the order of wire facts 7. Its creator may put groups into it whatever else they may
 * do (specification 4.5).
 *
 * @param now milliseconds
 */
export function checkCreateGroup(
  { standing, realm, user, graph }: Caller,
  given: GroupToCreate,
  ground: CreationGround,
  now: number,
): NewGroup {
  if (!holdsUnlessGuest(standing, realm.settings.can_create_groups)) {
    throw refusal('insufficientPermission');
  }
  const name = checkGroupName(given.name);
  const members = eachOnce(given.members);
  checkMembers(members, ground.users);
  const description = checkGroupDescription(given.description);
  const settings = checkNewGroupSettings(user.userId, given, ground.named);
  if (ground.isNameTaken) throw nameIsTaken(name);
  const subgroups = eachOnce(given.subgroups ?? []);
  checkSubgroups(subgroups, ground.groups);
  checkGraphRoom(graph, subgroups.length);
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

/** The memberships of a new group. They have no effect before the group itself exists. */
export const newMemberships = (realm: string, groupId: number, members: readonly number[]): Write[] =>
  members.flatMap((userId) => doJoinGroup(realm, groupId, userId, false));

/** How many events tell of a new group. */
export const eventsOfCreation = ({ subgroups }: NewGroup): number => (subgroups.length === 0 ? 1 : 2);

/**
 * Creates a group without its memberships: the group, the guard of its name, the uses of groups that it names, its
 * place in the graph, and the events. Subgroups are told by an event of their own, as clients expect (wire facts 7).
 */
export function doCreateGroup(
  realm: string,
  graph: GroupGraph,
  { group, members, subgroups }: NewGroup,
  groupId: number,
): Change<{ readonly group_id: number }> {
  const created: Group = { ...group, groupId, version: 1 };
  const added: EventEntry = {
    kind: 'event',
    hearers: { everyone: 'all' },
    payload: { type: 'user_group', op: 'add', group: groupObject(created, members, []) },
    access: true,
  };
  const hasSubgroups = subgroups.length > 0;
  const uses = doUseGroups(realm, { groupId }, [], Object.values(group.settings));
  // A transaction has one write an item: a group that is put in and named by a setting too is held by the latter.
  const isHeld = (write: Write): boolean => uses.some((use) => keyOf(use).pk === keyOf(write).pk);
  const graphWrites = hasSubgroups ? doSetSubgroups(realm, graph, groupId, subgroups) : [];
  return {
    writes: [
      { put: key('group', { realm, groupId }), item: { ...created } },
      { put: key('groupName', { realm, name: group.name }), item: { groupId }, when: { absent: true } },
      ...uses,
      ...graphWrites.filter((write) => !isHeld(write)),
    ],
    entries: [added, ...(hasSubgroups ? [subgroupsEvent('add_subgroups', groupId, subgroups)] : [])],
    result: { group_id: groupId },
  };
}
