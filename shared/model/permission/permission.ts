import type { GroupGraph } from '../../kernel/group-graph.ts';
import type { GroupSetting } from './group-setting.ts';
import { type Role, roles, systemGroupOf, systemGroups, systemSubgroups } from './system-group.ts';

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
