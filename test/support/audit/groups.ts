import { namedGroupsIn } from '../../../shared/model/group/setting.ts';
import { type GroupSetting, isSystemGroup } from '../../../shared/model/permission/permission.ts';
import type { Table } from '../../../shared/table/table.ts';
import type { Ledger } from './ledger.ts';
import type { Audited } from './people.ts';

/** Holds the groups to their names, members, their graph, and the settings that name them. */
export async function auditGroups(
  table: Table,
  realm: string,
  people: readonly Audited[],
  channelSettings: ReadonlyMap<number, readonly GroupSetting[]>,
  ledger: Ledger,
): Promise<void> {
  const groups = await table.all('group', { realm });
  ledger.unique(
    'a group name',
    groups.map(({ name }) => name),
  );
  const settings = new Map(
    groups.map((group) => [group.groupId, Object.values<GroupSetting>({ ...group.settings })]),
  );
  for (const { groupId, name, deactivated } of groups) {
    const [named, use, members] = await Promise.all([
      table.get('groupName', { realm, name }),
      table.get('groupUse', { realm, groupId }),
      table.all('member', { realm, groupId }),
    ]);
    ledger.same(`the name of group ${groupId} leads to`, named?.groupId, groupId);
    ledger.same(
      `members of group ${groupId}`,
      members.map((member) => ('userId' in member ? member.userId : 'those of a list')),
      people.filter(({ groupIds }) => groupIds.includes(groupId)).map(({ userId }) => userId),
    );
    ledger.same(`group ${groupId} is out of use`, use?.deactivated ?? false, deactivated);
    ledger.same(
      `channels that name group ${groupId}`,
      use?.channels ?? [],
      holders(channelSettings, groupId),
    );
    const others = holders(settings, groupId).filter((holder) => holder !== groupId);
    ledger.same(`groups that name group ${groupId}`, use?.groups ?? [], others);
  }
  await auditGraph(table, realm, new Set(settings.keys()), ledger);
}

/** Those whose settings name the group. */
const holders = (settings: ReadonlyMap<number, readonly GroupSetting[]>, groupId: number): number[] =>
  [...settings].filter(([, values]) => namedGroupsIn(values).includes(groupId)).map(([holder]) => holder);

/** The graph names groups that exist, and no group contains itself at any depth. */
async function auditGraph(
  table: Table,
  realm: string,
  known: ReadonlySet<number>,
  ledger: Ledger,
): Promise<void> {
  const edges = (await table.get('groupGraph', { realm }))?.edges ?? {};
  const strangers = Object.entries(edges)
    .flatMap(([parent, children]) => [Number(parent), ...children])
    .filter((id) => !known.has(id) && !isSystemGroup(id));
  ledger.same('groups of the graph that do not exist', strangers, []);
  const below = (id: number, path: readonly number[]): boolean =>
    path.includes(id) || (edges[String(id)] ?? []).some((child) => below(child, [...path, id]));
  ledger.same(
    'groups that contain themselves',
    Object.keys(edges).filter((id) => below(Number(id), [])),
    [],
  );
}

/** Holds active emoji to their names. */
export async function auditEmoji(table: Table, realm: string, ledger: Ledger): Promise<void> {
  const active = (await table.all('emoji', { realm })).filter(({ deactivated }) => !deactivated);
  ledger.unique(
    'the name of an active emoji',
    active.map(({ name }) => name),
  );
  for (const { name, emojiId } of active) {
    const named = await table.get('emojiName', { realm, name });
    ledger.same(`the name of emoji ${emojiId} leads to`, named?.emojiId, emojiId);
  }
}
