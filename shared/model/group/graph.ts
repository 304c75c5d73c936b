import { badRequest } from '../../kernel/errors.ts';
import { type GroupGraph, sizeOfLists } from '../../kernel/group-graph.ts';
import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { isSystemGroup, systemSubgroups } from '../permission/permission.ts';
import type { Group } from './group.ts';
import { doRequireActive } from './setting.ts';

/**
 * Most edges of an organization's graph. The graph is one item, which holds 400 KB and is read by every request:
 * this many are about 100 KB.
 */
const MAX_EDGES = 10_000;

/** The groups directly in a group. */
export const subgroupsOf = (graph: GroupGraph, groupId: number): readonly number[] =>
  systemSubgroups.get(groupId) ?? graph.edges[String(groupId)] ?? [];

/** The groups in a group at any depth, without itself, in rising order. */
export function allSubgroupsOf(graph: GroupGraph, groupId: number): number[] {
  const seen = new Set<number>();
  const open = [...subgroupsOf(graph, groupId)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...subgroupsOf(graph, next));
  }
  return [...seen].sort((a, b) => a - b);
}

/** The named groups that a group is directly in. */
export const supergroupsOf = (graph: GroupGraph, groupId: number): number[] =>
  Object.entries(graph.edges).flatMap(([parent, children]) =>
    children.includes(groupId) ? [Number(parent)] : [],
  );

/** The groups that a group is in at any depth, those of the roles too. */
export function allSupergroupsOf(graph: GroupGraph, groupId: number): number[] {
  const above = (id: number): number[] => [
    ...supergroupsOf(graph, id),
    ...[...systemSubgroups].flatMap(([parent, children]) => (children.includes(id) ? [parent] : [])),
  ];
  const seen = new Set<number>();
  const open = above(groupId);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...above(next));
  }
  return [...seen];
}

/** Decides whether groups can be put into a group: they exist and are active (wire facts 7). */
export function checkSubgroups(ids: readonly number[], groups: ReadonlyMap<number, Group>): void {
  for (const id of ids) {
    if (isSystemGroup(id)) continue;
    const group = groups.get(id);
    if (group === undefined) throw badRequest(`Invalid user group ID: ${id}.`);
    if (group.deactivated) throw badRequest(`The user group with the ID ${id} is deactivated.`);
  }
}

/** Decides whether the graph has room for more edges. */
export function checkGraphRoom(graph: GroupGraph, more: number): void {
  if (sizeOfLists(graph.edges) + more > MAX_EDGES)
    throw badRequest('This organization has too many subgroups.');
}

/** Decides whether so many people more can arrive in groups: they make the graph larger for some seconds. */
export function checkArrivalRoom(graph: GroupGraph, more: number): void {
  if (sizeOfLists(graph.arriving ?? {}) + more > MAX_EDGES) {
    throw badRequest('Other large user groups are being created; try again in a moment.');
  }
}

/** Changes the graph, held to the one that was decided on, and the version by which containers know it. */
export const doSetGraph = (
  realm: string,
  { version }: GroupGraph,
  set: Partial<Pick<GroupGraph, 'edges' | 'arriving'>>,
): Write[] => [
  {
    update: key('groupGraph', { realm }),
    change: { set: { ...set, version: version + 1 } },
    when: { equals: { version } },
    lastWriterWins: true,
  },
  { put: key('graphVersion', { realm }), item: { version: version + 1 } },
];

/**
 * Gives a group its subgroups. The transaction is held to the graph that was decided on, so that two such changes
 * cannot make a cycle together, and to the added groups being active. `arriving` are those who arrive in groups, where
 * they change too.
 */
export function doSetSubgroups(
  realm: string,
  graph: GroupGraph,
  groupId: number,
  subgroups: readonly number[],
  arriving: Pick<GroupGraph, 'arriving'> = {},
): Write[] {
  const before = subgroupsOf(graph, groupId);
  const { [String(groupId)]: _, ...others } = graph.edges;
  const edges = subgroups.length === 0 ? others : { ...others, [String(groupId)]: subgroups };
  return [
    ...doSetGraph(realm, graph, { edges, ...arriving }),
    ...doRequireActive(
      realm,
      subgroups.filter((id) => !before.includes(id)),
    ),
  ];
}

/** Tells everybody that groups were put into a group, or taken out of it. */
export const subgroupsEvent = (
  op: 'add_subgroups' | 'remove_subgroups',
  groupId: number,
  subgroups: readonly number[],
): EventEntry => ({
  kind: 'event',
  hearers: { everyone: 'all' },
  payload: { type: 'user_group', op, group_id: groupId, direct_subgroup_ids: subgroups },
  access: true,
});
