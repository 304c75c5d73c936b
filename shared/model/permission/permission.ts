import * as z from 'zod/mini';
import type { GroupGraph } from '../../kernel/lookup.ts';
import { uniqueSorted } from '../../lists.ts';

/**
 * The eight groups that follow from roles (wire facts 7). Their ids are the same in every organization, so no read is
 * needed; log numbers begin above them. `shown` is the text of a mention.
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

/** The first number that the log of an organization allocates. */
export const FIRST_NUMBER = 101;

/** The direct subgroups of each system group. */
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

/** Roles on the wire. A smaller number has more rights. */
export const roles = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 } as const;
export type Role = (typeof roles)[keyof typeof roles];

/** The system groups that clients list for a role. Full members are in both of theirs. */
export function roleGroups(role: Role, isFullMember: boolean): number[] {
  const { owners, administrators, moderators, members, fullMembers, everyone } = systemGroups;
  switch (role) {
    case roles.owner:
      return [owners.id];
    case roles.administrator:
      return [administrators.id];
    case roles.moderator:
      return [moderators.id];
    case roles.member:
      return isFullMember ? [members.id, fullMembers.id] : [members.id];
    case roles.guest:
      return [everyone.id];
  }
}

/**
 * A group-setting value (specification 2.2): a group id, or users and groups listed directly. Stored and sent in this
 * form.
 */
export type GroupSetting =
  | number
  | { readonly direct_members: readonly number[]; readonly direct_subgroups: readonly number[] };

export const groupSettingSchema: z.ZodMiniType<GroupSetting> = z.union([
  z.int(),
  z.strictObject({ direct_members: z.array(z.int()), direct_subgroups: z.array(z.int()) }),
]);

/**
 * A change of a group setting (specification 2.2): the new value, and optionally the value that the caller expects.
 */
export interface GroupSettingChange {
  readonly new: GroupSetting;
  readonly old?: GroupSetting | null | undefined;
}

export const groupSettingChangeSchema: z.ZodMiniType<GroupSettingChange> = z.strictObject({
  new: groupSettingSchema,
  old: z.optional(z.nullable(groupSettingSchema)),
});

/**
 * The normal form of a value (wire facts 4.5): lists are sorted and unique, a lone subgroup becomes its id, an empty
 * object becomes the nobody group.
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

/** Whether two values are equal in their normal form. */
export const sameSetting = (a: GroupSetting, b: GroupSetting): boolean =>
  JSON.stringify(normalized(a)) === JSON.stringify(normalized(b));

/** The setting that holds one user, such as "the creator". */
export const onlyUser = (userId: number): GroupSetting => ({
  direct_members: [userId],
  direct_subgroups: [],
});

/** The values that a group setting may have, and its first value. `role:internet` is always refused. */
export interface GroupSettingRule {
  readonly initial: number | 'creator';
  readonly nobody: boolean;
  readonly everyone: boolean;
  /** False refuses the owners group, which is allowed by default. */
  readonly owners?: false;
  /** Only system groups, by id: no named groups and no lists. */
  readonly systemOnly?: true;
  /** Only these system groups. */
  readonly only?: readonly number[];
  /** To change it, one must be able to read the channel, not only to administer it. */
  readonly needsContentAccess?: true;
}

/** The rules of the group settings of one kind of thing, by wire name. */
export const settingRules = <N extends string>(rules: Readonly<Record<N, GroupSettingRule>>) => rules;

/** Settings that guests can have, and those that they never have. */
export const forGuests = { nobody: true, everyone: true } as const;
export const forMembers = { nobody: true, everyone: false } as const;

/** The first values of group settings. Without a creator, nobody has the permissions of the creator. */
export const initialSettings = <N extends string>(
  rules: Readonly<Record<N, GroupSettingRule>>,
  creatorId?: number,
): Record<N, GroupSetting> => {
  const creator = creatorId === undefined ? systemGroups.nobody.id : onlyUser(creatorId);
  return mapSettings(rules, (_, { initial }) => (initial === 'creator' ? creator : initial));
};

/** A value for each of these settings. */
export const mapSettings = <N extends string>(
  rules: Readonly<Record<N, GroupSettingRule>>,
  decide: (name: N, rule: GroupSettingRule) => GroupSetting,
): Record<N, GroupSetting> =>
  Object.fromEntries((Object.keys(rules) as N[]).map((name) => [name, decide(name, rules[name])])) as Record<
    N,
    GroupSetting
  >;

/** The groups that a setting references. */
export const groupsOf = (setting: GroupSetting): readonly number[] =>
  typeof setting === 'number' ? [setting] : setting.direct_subgroups;

interface Person {
  readonly userId: number;
  readonly role: Role;
  /** ISO 8601. */
  readonly dateJoined: string;
}

/** The facts about a user that permission checks need: their role and all groups that contain them, at any depth. */
export interface Standing {
  readonly userId: number;
  readonly role: Role;
  readonly groups: ReadonlySet<number>;
}

/**
 * Computes the standing of a user from what the request has read anyway.
 *
 * @param waitingDays days after joining until a member is a full member
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
  const groups = withSupergroups(graph, [...roleGroups(user.role, isFull), ...directGroups]);
  return { userId: user.userId, role: user.role, groups };
}

/** Whether the waiting period (days) of a user is over. `now` is in milliseconds. */
export const isFullMember = (user: Pick<Person, 'dateJoined'>, waitingDays: number, now: number): boolean =>
  now - Date.parse(user.dateJoined) >= waitingDays * 86_400_000;

type Edges = Iterable<readonly [parent: number, children: readonly number[]]>;

/** The groups that contain each group directly. */
function parentsIn(edges: Edges): ReadonlyMap<number, readonly number[]> {
  const parents = new Map<number, number[]>();
  for (const [parent, children] of edges) {
    for (const child of children) {
      const known = parents.get(child);
      if (known === undefined) parents.set(child, [parent]);
      else known.push(parent);
    }
  }
  return parents;
}

const systemParents = parentsIn(systemSubgroups);

/** These groups, and those that contain them at any depth. */
export function withSupergroups(graph: GroupGraph, groups: readonly number[]): Set<number> {
  const named = parentsIn(Object.entries(graph.edges).map(([id, children]) => [Number(id), children]));
  return reachable(groups, (group) => [...(systemParents.get(group) ?? []), ...(named.get(group) ?? [])]);
}

/** The direct subgroups of a group. */
export const subgroupsOf = (graph: GroupGraph, groupId: number): readonly number[] =>
  systemSubgroups.get(groupId) ?? graph.edges[String(groupId)] ?? [];

/** These groups, and those that they contain at any depth. */
export const withSubgroups = (graph: GroupGraph, groups: readonly number[]): Set<number> =>
  reachable(groups, (group) => subgroupsOf(graph, group));

function reachable(from: readonly number[], next: (group: number) => readonly number[]): Set<number> {
  const seen = new Set(from);
  // A set visits what is added meanwhile.
  for (const group of seen) for (const other of next(group)) seen.add(other);
  return seen;
}

/** Whether a setting grants its permission to this user. */
export function holds(standing: Standing, setting: GroupSetting): boolean {
  if (typeof setting === 'number') return standing.groups.has(setting);
  return (
    setting.direct_members.includes(standing.userId) ||
    setting.direct_subgroups.some((group) => standing.groups.has(group))
  );
}

/** Like `holds`, for permissions that guests never have, even if listed (wire facts 4.5). */
export const holdsUnlessGuest = (standing: Standing, setting: GroupSetting): boolean =>
  standing.role !== roles.guest && holds(standing, setting);

/** Whether the whole organization has the permission, so that no member lists need reading. */
export const isForEveryone = (setting: GroupSetting): boolean =>
  setting === systemGroups.everyone.id || setting === systemGroups.internet.id;

export const isAdministrator = (standing: Pick<Standing, 'role'>): boolean =>
  standing.role <= roles.administrator;
export const isOwner = (standing: Pick<Standing, 'role'>): boolean => standing.role === roles.owner;
export const isGuest = (standing: Pick<Standing, 'role'>): boolean => standing.role === roles.guest;

/**
 * Whether `group` would contain itself with `children` as subgroups. The transaction checks the version of the graph,
 * so that two concurrent changes cannot make a cycle together.
 */
export const makesCycle = (graph: GroupGraph, group: number, children: readonly number[]): boolean =>
  withSubgroups(graph, children).has(group);
