import { badRequest } from '../../kernel/errors.ts';
import { type GroupGraph, sizeOfLists } from '../../kernel/lookup.ts';
import { type EventEntry, eventForEveryone } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import { hasVersion, type Write } from '../../table/write.ts';
import { isSystemGroup, subgroupsOf } from '../permission/permission.ts';
import type { Group } from './group.ts';
import { doRequireActive } from './setting.ts';

/**
 * Most edges of the graph of an organization: about 100 KB. Every request reads the graph, and an item holds 400 KB.
 */
const MAX_EDGES = 10_000;

/** The named groups that contain a group directly. */
export const supergroupsOf = (graph: GroupGraph, groupId: number): number[] =>
  Object.entries(graph.edges).flatMap(([parent, children]) =>
    children.includes(groupId) ? [Number(parent)] : [],
  );

/** Checks that subgroups exist and are active (wire facts 7). */
export function checkSubgroups(ids: readonly number[], groups: ReadonlyMap<number, Group>): void {
  for (const id of ids) {
    if (isSystemGroup(id)) continue;
    const group = groups.get(id);
    if (group === undefined) throw badRequest(`Invalid user group ID: ${id}.`);
    if (group.deactivated) throw badRequest(`The user group with the ID ${id} is deactivated.`);
  }
}

/** Checks that the graph has room for more edges. */
export function checkGraphRoom(graph: GroupGraph, more: number): void {
  if (sizeOfLists(graph.edges) + more > MAX_EDGES)
    throw badRequest('This organization has too many subgroups.');
}

/** Checks that the graph has room for pending members, who are in it for some seconds. */
export function checkPendingRoom(graph: GroupGraph, more: number): void {
  if (sizeOfLists(graph.arriving ?? {}) + more > MAX_EDGES) {
    throw badRequest('Other large user groups are being created; try again in a moment.');
  }
}

/** Changes the graph and its version. Fails if the graph has changed since it was read. */
export const doSetGraph = (
  realm: string,
  { version }: GroupGraph,
  set: Partial<Pick<GroupGraph, 'edges' | 'arriving'>>,
): Write[] => [
  {
    update: key('groupGraph', { realm }),
    change: { set: { ...set, version: version + 1 } },
    when: hasVersion(version),
    lastWriterWins: true,
  },
  { put: key('graphVersion', { realm }), item: { version: version + 1 } },
];

/**
 * Sets the subgroups of a group. Fails if the graph has changed, so that concurrent changes cannot make a cycle
 * together, or if an added group was deactivated. `arriving` replaces the pending members.
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

/** The event that subgroups were added or removed. */
export const subgroupsEvent = (
  op: 'add_subgroups' | 'remove_subgroups',
  groupId: number,
  subgroups: readonly number[],
): EventEntry =>
  eventForEveryone(
    { type: 'user_group', op, group_id: groupId, direct_subgroup_ids: subgroups },
    { access: true },
  );
