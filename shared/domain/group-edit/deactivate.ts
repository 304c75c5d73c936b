import { badRequest, refusal } from '../../kernel/errors.ts';
import { isId, noGroups } from '../../kernel/lookup.ts';
import { uniqueSorted } from '../../lists.ts';
import type { Change } from '../../log/commit.ts';
import { hasMetadataAccess, loadChannel } from '../../model/channel/access.ts';
import { supergroupsOf } from '../../model/group/graph.ts';
import { accessGroup, type Group } from '../../model/group/group.ts';
import { loadGroup, loadGroups } from '../../model/group/member.ts';
import { doMarkDeactivated, type GroupUse } from '../../model/group/setting.ts';
import { type GroupSetting, groupsOf } from '../../model/permission/permission.ts';
import { realmGroupNames } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersion } from '../../table/write.ts';
import { eventForOldClients, forDeactivatedGroup, groupUpdate } from './edit.ts';

/**
 * Loads a group and its uses, then the channels and groups with a setting that references it, and the groups that
 * contain it. Two round trips.
 */
export async function loadDeactivationSnapshot(
  table: Table,
  realm: string,
  groupId: number,
  callerId: number,
) {
  const [group, use, graph] = await Promise.all([
    loadGroup(table, realm, groupId),
    isId(groupId) ? table.get('groupUse', { realm, groupId }) : undefined,
    table.get('groupGraph', { realm }),
  ]);
  const [channels, groups] = await Promise.all([
    Promise.all(
      [...(use?.channels ?? [])].map((channelId) => loadChannel(table, realm, channelId, callerId)),
    ),
    loadGroups(table, realm, [...(use?.groups ?? []), ...supergroupsOf(graph ?? noGroups, groupId)]),
  ]);
  return { group, use, channels: channels.filter((seen) => seen !== undefined), groups };
}

type DeactivationSnapshot = Awaited<ReturnType<typeof loadDeactivationSnapshot>>;

/** Why a group cannot be deactivated, as clients see it. */
type Objection =
  | { readonly type: 'subgroup'; readonly supergroup_ids: readonly number[] }
  /** The id only if the channel is visible to the caller. */
  | { readonly type: 'channel'; readonly channel_id?: number; readonly settings: readonly string[] }
  | { readonly type: 'user_group'; readonly group_id: number; readonly settings: readonly string[] }
  | { readonly type: 'realm'; readonly settings: readonly string[] };

/** The settings that reference the group, sorted by name. */
const naming = (groupId: number, settings: object): string[] =>
  Object.entries(settings)
    .filter(([, setting]: [string, GroupSetting]) => groupsOf(setting).includes(groupId))
    .map(([name]) => name)
    .sort();

/** Where the group is in use. As in the reference, archived channels and deactivated groups do not count. */
function objectionsTo(caller: Caller, groupId: number, snapshot: DeactivationSnapshot): Objection[] {
  const active = [...snapshot.groups.values()].filter(({ deactivated }) => !deactivated);
  const supergroups = supergroupsOf(caller.graph, groupId);
  const containing = uniqueSorted(active.map((group) => group.groupId)).filter((id) =>
    supergroups.includes(id),
  );
  const { settings } = caller.realm;
  const realm = realmGroupNames.filter((name) => groupsOf(settings[name]).includes(groupId)).sort();
  return [
    ...(containing.length > 0 ? [{ type: 'subgroup' as const, supergroup_ids: containing }] : []),
    ...snapshot.channels
      .filter(({ channel }) => !channel.isArchived)
      .map((seen) => ({
        type: 'channel' as const,
        ...(hasMetadataAccess(caller.standing, seen) && { channel_id: seen.channel.channelId }),
        settings: naming(groupId, seen.channel.groups),
      })),
    ...active
      .map((group) => ({
        type: 'user_group' as const,
        group_id: group.groupId,
        settings: naming(groupId, group.settings),
      }))
      .filter(({ settings }) => settings.length > 0),
    ...(realm.length > 0 ? [{ type: 'realm' as const, settings: realm }] : []),
  ];
}

/**
 * Checks that the caller may deactivate the group.
 *
 * @throws Refusal with the uses of the group, if there are any (wire facts 1.4)
 */
export function checkDeactivation(caller: Caller, groupId: number, snapshot: DeactivationSnapshot): Group {
  const group = accessGroup(caller, groupId, snapshot.group);
  if (group.deactivated) throw badRequest('The user group is deactivated already.');
  const objections = objectionsTo(caller, groupId, snapshot);
  if (objections.length > 0) throw refusal('groupInUse', { objections });
  return group;
}

/**
 * Deactivates a group, on condition that its uses, the graph and the organization are unchanged. Its name, members
 * and subgroups stay.
 */
export function doDeactivate(
  { realmId: realm, graph, realm: organization }: Caller,
  group: Group,
  use: GroupUse | undefined,
): Change<Record<string, never>> {
  const { groupId, version } = group;
  return {
    writes: [
      {
        update: key('group', { realm, groupId }),
        change: { set: { deactivated: true, version: version + 1 } },
        when: hasVersion(version),
        lastWriterWins: true,
      },
      doMarkDeactivated(realm, groupId, use),
      { check: key('groupGraph', { realm }), when: hasVersion(graph.version) },
      { check: key('realm', { realm }), when: hasVersion(organization.version) },
    ],
    entries: [
      forDeactivatedGroup(groupUpdate(groupId, { deactivated: true })),
      eventForOldClients('remove', groupId),
    ],
    result: {},
  };
}
