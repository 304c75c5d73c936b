import * as z from 'zod/mini';
import type { GroupGraph } from '../../kernel/group-graph.ts';
import { uniqueSorted } from '../../unique.ts';

/**
 * The eight groups that follow from the role (wire facts 7). Their ids are the same small numbers in every
 * organization, so that no read is needed to know them; the log's own numbers begin above. `shown` is what readers of a
 * mention see.
 */
export const systemGroups = {
  nobody: { id: 1, name: 'role:nobody', shown: 'Nobody' },
  owners: { id: 2, name: 'role:owners', shown: 'Owners' },
  administrators: { id: 3, name: 'role:administrators', shown: 'Administrators' },
  moderators: { id: 4, name: 'role:moderators', shown: 'Moderators' },
  fullMembers: { id: 5, name: 'role:fullmembers', shown: 'Full members' },
  members: { id: 6, name: 'role:members', shown: 'Everyone except guests' },
  everyone: { id: 7, name: 'role:everyone', shown: 'Everyone including guests' },
  internet: { id: 8, name: 'role:internet', shown: 'Everyone on the internet' },
} as const;

export type SystemGroup = keyof typeof systemGroups;

/** The first number that an organization's log hands out. */
export const FIRST_NUMBER = 101;

/** What each system group contains directly. Nobody stands apart. */
export const systemSubgroups: ReadonlyMap<number, readonly number[]> = new Map([
  [systemGroups.nobody.id, []],
  [systemGroups.owners.id, []],
  [systemGroups.administrators.id, [systemGroups.owners.id]],
  [systemGroups.moderators.id, [systemGroups.administrators.id]],
  [systemGroups.fullMembers.id, [systemGroups.moderators.id]],
  [systemGroups.members.id, [systemGroups.fullMembers.id]],
  [systemGroups.everyone.id, [systemGroups.members.id]],
  [systemGroups.internet.id, [systemGroups.everyone.id]],
]);

export const isSystemGroup = (groupId: number): boolean => systemSubgroups.has(groupId);

/** Roles on the wire; a smaller number may do more. */
export const roles = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 } as const;
export type Role = (typeof roles)[keyof typeof roles];

/** The one system group that a person is a direct member of. Members become full ones with time. */
export function systemGroupOf(role: Role, isFullMember: boolean): number {
  switch (role) {
    case roles.owner:
      return systemGroups.owners.id;
    case roles.administrator:
      return systemGroups.administrators.id;
    case roles.moderator:
      return systemGroups.moderators.id;
    case roles.member:
      return isFullMember ? systemGroups.fullMembers.id : systemGroups.members.id;
    case roles.guest:
      return systemGroups.everyone.id;
  }
}

/**
 * A group-setting value (specification 2.2): the id of a group, or people and groups listed directly.
 * It is stored and sent in this same form.
 */
export type GroupSetting =
  | number
  | { readonly direct_members: readonly number[]; readonly direct_subgroups: readonly number[] };

export const groupSettingSchema: z.ZodMiniType<GroupSetting> = z.union([
  z.int(),
  z.strictObject({ direct_members: z.array(z.int()), direct_subgroups: z.array(z.int()) }),
]);

/** A change of such a value (specification 2.2): the new one, and perhaps what the caller takes for the current one. */
export interface GroupSettingChange {
  readonly new: GroupSetting;
  readonly old?: GroupSetting | null | undefined;
}

export const groupSettingChangeSchema: z.ZodMiniType<GroupSettingChange> = z.strictObject({
  new: groupSettingSchema,
  old: z.optional(z.nullable(groupSettingSchema)),
});

/**
 * The one form of each value (wire facts 4.5): lists are sorted and without repetition, one lone subgroup
 * becomes its id, an empty object becomes the nobody group.
 */
export function normalized(setting: GroupSetting): GroupSetting {
  if (typeof setting === 'number') return setting;
  const members = uniqueSorted(setting.direct_members);
  const subgroups = uniqueSorted(setting.direct_subgroups);
  const [only] = subgroups;
  if (members.length === 0 && subgroups.length === 0) return systemGroups.nobody.id;
  if (members.length === 0 && subgroups.length === 1 && only !== undefined) return only;
  return { direct_members: members, direct_subgroups: subgroups };
}

/** Whether two values mean the same, whatever their order. */
export const sameSetting = (a: GroupSetting, b: GroupSetting): boolean =>
  JSON.stringify(normalized(a)) === JSON.stringify(normalized(b));

/** The setting that holds just this one person: how "the creator" is stored and reported. */
export const onlyUser = (userId: number): GroupSetting => ({
  direct_members: [userId],
  direct_subgroups: [],
});

/** The groups that a setting names. */
export const groupsOf = (setting: GroupSetting): readonly number[] =>
  typeof setting === 'number' ? [setting] : setting.direct_subgroups;

/** What is known of a person whose standing is worked out. */
interface Person {
  readonly userId: number;
  readonly role: Role;
  /** ISO 8601. */
  readonly dateJoined: string;
}

/** What someone may do follows from this: who they are, and every group they are in, however deep. */
export interface Standing {
  readonly userId: number;
  readonly role: Role;
  readonly groups: ReadonlySet<number>;
}

/**
 * Works out the standing of a person from what the request has read anyway: the user, the ids of the groups they
 * are a direct member of, and the graph.
 *
 * @param waitingDays days after joining until a member is a full member (the organization's setting)
 * @param now milliseconds
 */
export function standingOf(
  user: Person,
  directGroups: readonly number[],
  graph: GroupGraph,
  waitingDays: number,
  now: number,
): Standing {
  const isFull = isFullMember(user, waitingDays, now);
  const parents = parentsIn(graph);
  const groups = new Set<number>();
  const open = [systemGroupOf(user.role, isFull), ...directGroups];
  for (let group = open.pop(); group !== undefined; group = open.pop()) {
    if (groups.has(group)) continue;
    groups.add(group);
    open.push(...(parents.get(group) ?? []));
  }
  return { userId: user.userId, role: user.role, groups };
}

/** Whether somebody is past the waiting period (days) of the organization. `now` is in milliseconds. */
export const isFullMember = (user: Pick<Person, 'dateJoined'>, waitingDays: number, now: number): boolean =>
  now - Date.parse(user.dateJoined) >= waitingDays * 86_400_000;

/** The graph from below: group -> the groups that contain it directly. */
function parentsIn(graph: GroupGraph): ReadonlyMap<number, readonly number[]> {
  const parents = new Map<number, number[]>();
  const put = (child: number, parent: number): void => {
    const known = parents.get(child);
    if (known) known.push(parent);
    else parents.set(child, [parent]);
  };
  for (const [parent, children] of systemSubgroups) for (const child of children) put(child, parent);
  for (const [parent, children] of Object.entries(graph.edges)) {
    for (const child of children) put(child, Number(parent));
  }
  return parents;
}

/** Whether the setting gives its permission to this person. */
export function holds(standing: Standing, setting: GroupSetting): boolean {
  if (typeof setting === 'number') return standing.groups.has(setting);
  return (
    setting.direct_members.includes(standing.userId) ||
    setting.direct_subgroups.some((group) => standing.groups.has(group))
  );
}

/** The same for a setting that guests never hold, even if they are listed (wire facts 4.5). */
export const holdsUnlessGuest = (standing: Standing, setting: GroupSetting): boolean =>
  standing.role !== roles.guest && holds(standing, setting);

/** Whether everybody in the organization has the permission, so that nobody needs to be looked at. */
export const isForEveryone = (setting: GroupSetting): boolean =>
  setting === systemGroups.everyone.id || setting === systemGroups.internet.id;

export const isAdministrator = (standing: Pick<Standing, 'role'>): boolean =>
  standing.role <= roles.administrator;
export const isOwner = (standing: Pick<Standing, 'role'>): boolean => standing.role === roles.owner;
export const isGuest = (standing: Pick<Standing, 'role'>): boolean => standing.role === roles.guest;

/**
 * Whether `group` would contain itself if `children` were put into it: the walk from the children must not reach
 * it. The caller's transaction holds the graph's version, so that two such changes cannot make a cycle together.
 */
export function makesCycle(graph: GroupGraph, group: number, children: readonly number[]): boolean {
  const seen = new Set<number>();
  const open = [...children];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === group) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(systemSubgroups.get(next) ?? graph.edges[String(next)] ?? []));
  }
  return false;
}
