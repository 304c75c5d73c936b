import { badRequest, refusal } from '../../kernel/errors.ts';
import type { GroupGraph } from '../../kernel/group-graph.ts';
import { checkQuota, doUseQuota, loadQuotaUse } from '../../kernel/quota.ts';
import { type Change, MAX_WRITES } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import { checkGraphRoom, checkSubgroups, doSetSubgroups, subgroupsEvent } from '../../model/group/graph.ts';
import {
  checkGroupDescription,
  checkGroupName,
  checkNewGroupSettings,
  fitsGroupName,
  type GivenGroupSettings,
  type Group,
  givenGroupSettings,
  groupBytes,
  groupObject,
} from '../../model/group/group.ts';
import { checkMembers, doJoinGroup, loadGroups, loadPeople } from '../../model/group/member.ts';
import { doUseGroups, loadNamedInSettings, type NamedInSettings } from '../../model/group/setting.ts';
import { holdsUnlessGuest } from '../../model/permission/permission.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { keyOf, type Write } from '../../table/write.ts';
import { uniqueSorted } from '../../unique.ts';
import { doLeaveArrivals } from './arrival.ts';

/** What a request says of the group that it creates, under the wire names (specification 4.5). */
export interface GroupToCreate extends GivenGroupSettings {
  readonly name: string;
  readonly description: string;
  readonly members: readonly number[];
  readonly subgroups?: readonly number[];
}

/** What the creation of a group is decided on. */
export interface CreationSnapshot {
  readonly named: NamedInSettings;
  readonly users: ReadonlyMap<number, User>;
  readonly groups: ReadonlyMap<number, Group>;
  /** Another group bears the name. */
  readonly isNameTaken: boolean;
  /** How many bytes the organization's groups take. */
  readonly bytes: number;
}

/** Reads all of it in one round trip. */
export async function loadCreationSnapshot(
  table: Table,
  realm: string,
  given: GroupToCreate,
): Promise<CreationSnapshot> {
  const [named, users, groups, holder, bytes] = await Promise.all([
    loadNamedInSettings(table, realm, givenGroupSettings(given)),
    loadPeople(table, realm, given.members),
    loadGroups(table, realm, given.subgroups ?? []),
    fitsGroupName(given.name) ? table.get('groupName', { realm, name: given.name }) : undefined,
    loadQuotaUse(table, realm, 'groups'),
  ]);
  return { named, users, groups, isNameTaken: holder !== undefined, bytes };
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
  snapshot: CreationSnapshot,
  now: number,
): NewGroup {
  if (!holdsUnlessGuest(standing, realm.settings.can_create_groups)) {
    throw refusal('insufficientPermission');
  }
  const name = checkGroupName(given.name);
  const members = uniqueSorted(given.members);
  checkMembers(members, snapshot.users);
  const description = checkGroupDescription(given.description);
  const settings = checkNewGroupSettings(user.userId, given, snapshot.named);
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

/** How many events tell of a new group. */
export const eventsOfCreation = ({ subgroups }: NewGroup): number => (subgroups.length === 0 ? 1 : 2);

/**
 * Creates a group: itself, the guard of its name, the uses of groups that it names, its place in the graph, its
 * members, and the events. Subgroups are told by an event of their own, as clients expect (wire facts 7). More members
 * than one transaction takes (`isLargeGroup`) are stored as lists, with a job of the outbox that is named `job`.
 * `now` is in milliseconds.
 */
export function doCreateGroup(
  realm: string,
  graph: GroupGraph,
  created: NewGroup,
  groupId: number,
  later: { readonly job: string; readonly now: number },
): Change<void> {
  if (!isLargeGroup(realm, graph, created)) return doCreateWhole(realm, graph, created, groupId);
  const arriving = { ...graph.arriving, [String(groupId)]: created.members };
  const { writes, entries } = doCreate(realm, graph, created, groupId, { arriving });
  const lists = doLeaveArrivals(realm, groupId, created.members, later);
  return { writes: [...writes, ...lists], entries, result: undefined };
}

function doCreateWhole(realm: string, graph: GroupGraph, created: NewGroup, groupId: number): Change<void> {
  const { writes, entries } = doCreate(realm, graph, created, groupId);
  const memberships = created.members.flatMap((userId) => doJoinGroup(realm, groupId, userId, false));
  return { writes: [...writes, ...memberships], entries, result: undefined };
}

/** Whether a group has more members than the transaction that creates it can store one by one. */
export const isLargeGroup = (realm: string, graph: GroupGraph, created: NewGroup): boolean =>
  doCreateWhole(realm, graph, created, 0).writes.length >= MAX_WRITES;

/** The same without the members, who may come with the graph. */
function doCreate(
  realm: string,
  graph: GroupGraph,
  { group, members, subgroups }: NewGroup,
  groupId: number,
  arriving?: Pick<GroupGraph, 'arriving'>,
): Change<void> {
  const created: Group = { ...group, groupId, version: 1, ...(arriving && { isArriving: true }) };
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
  const graphWrites =
    hasSubgroups || arriving ? doSetSubgroups(realm, graph, groupId, subgroups, arriving) : [];
  return {
    writes: [
      { put: key('group', { realm, groupId }), item: { ...created } },
      { put: key('groupName', { realm, name: group.name }), item: { groupId }, when: { absent: true } },
      ...doUseQuota(realm, 'groups', groupBytes(group, members.length)),
      ...uses,
      ...graphWrites.filter((write) => !isHeld(write)),
    ],
    entries: [added, ...(hasSubgroups ? [subgroupsEvent('add_subgroups', groupId, subgroups)] : [])],
    result: undefined,
  };
}
