import { badRequest } from '../../kernel/errors.ts';
import { checkQuota, doUseQuota, loadQuotaUse } from '../../kernel/quota.ts';
import type { Change } from '../../log/commit.ts';
import { type EventEntry, eventForEveryone } from '../../log/slot.ts';
import {
  accessGroup,
  checkGroupDescription,
  checkGroupName,
  fitsGroupName,
  type Group,
  type GroupPermission,
  groupBytes,
  groupPermissionRules,
  groupPermissions,
} from '../../model/group/group.ts';
import { loadGroups } from '../../model/group/member.ts';
import {
  checkChangedSettings,
  doMarkActive,
  doUseGroups,
  loadSettingReferences,
} from '../../model/group/setting.ts';
import { type GroupSettingChange, sameSetting } from '../../model/permission/permission.ts';
import type { Caller } from '../../model/user/caller.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersion, type Write } from '../../table/write.ts';
import { nameIsTaken } from './create.ts';

/** The changes that a request makes to a group, under their wire names. */
export type GroupEdit = {
  readonly name?: string;
  readonly description?: string;
  readonly deactivated?: boolean;
} & { readonly [K in GroupPermission]?: GroupSettingChange };

/** Loads the snapshot for an edit. One round trip. */
export async function loadEditSnapshot(table: Table, realm: string, groupId: number, edit: GroupEdit) {
  const { name } = edit;
  const settings = groupPermissions.flatMap((permission) => edit[permission]?.new ?? []);
  const [groups, named, holder, bytes] = await Promise.all([
    loadGroups(table, realm, [groupId]),
    loadSettingReferences(table, realm, settings),
    name !== undefined && fitsGroupName(name) ? table.get('groupName', { realm, name }) : undefined,
    loadQuotaUse(table, realm, 'groups'),
  ]);
  return { group: groups.get(groupId), named, isNameTaken: holder !== undefined, bytes };
}

/** The group before and after an edit that passed the checks. */
export interface DecidedEdit {
  readonly before: Group;
  readonly after: Group;
}

/**
 * Checks an edit as a whole (specification 2.2, wire facts 4.5). Deactivated groups can be edited; `deactivated` can
 * only become false.
 */
export function checkEdit(
  caller: Caller,
  groupId: number,
  edit: GroupEdit,
  snapshot: Awaited<ReturnType<typeof loadEditSnapshot>>,
): DecidedEdit {
  if (Object.keys(edit).length === 0) throw badRequest('There is nothing to change.');
  const before = accessGroup(caller, groupId, snapshot.group);
  const name = edit.name === undefined || edit.name === before.name ? before.name : checkGroupName(edit.name);
  if (name !== before.name && snapshot.isNameTaken) throw nameIsTaken(name);
  const settings = checkChangedSettings(groupPermissionRules, before.settings, edit, snapshot.named);
  const after: Group = {
    ...before,
    name,
    description: checkGroupDescription(edit.description ?? before.description),
    deactivated: before.deactivated && edit.deactivated !== false,
    settings,
  };
  checkQuota('groups', snapshot.bytes, groupBytes(after) - groupBytes(before));
  return { before, after };
}

/** The events of an edit: one for each change, in the order of the reference. */
export function eventsOfEdit({ before, after }: DecidedEdit): EventEntry[] {
  const data: object[] = [];
  if (after.name !== before.name) data.push({ name: after.name });
  if (after.description !== before.description) data.push({ description: after.description });
  if (after.deactivated !== before.deactivated) data.push({ deactivated: after.deactivated });
  for (const permission of groupPermissions) {
    const value = after.settings[permission];
    if (!sameSetting(value, before.settings[permission])) data.push({ [permission]: value });
  }
  const updates = data.map((each) => groupUpdate(after.groupId, each));
  if (!before.deactivated) return updates;
  const reactivation = after.deactivated ? [] : [eventForOldClients('add', after.groupId)];
  return [...updates.map(forDeactivatedGroup), ...reactivation];
}

/**
 * Restricts an event to clients that support deactivated groups; for others such groups do not exist (wire facts
 * 14.1).
 */
export const forDeactivatedGroup = (entry: EventEntry): EventEntry => ({
  ...entry,
  given: 'include_deactivated_groups',
});

/** For other clients, deactivating a group removes it, and reactivating adds it with its current members. */
export const eventForOldClients = (op: 'add' | 'remove', groupId: number): EventEntry =>
  eventForEveryone(
    { type: 'user_group', op, group_id: groupId },
    { access: true, unless: 'include_deactivated_groups', ...(op === 'add' && { fill: 'group' }) },
  );

/** The event that a group changed (wire facts 14.6). */
export const groupUpdate = (groupId: number, data: object): EventEntry =>
  eventForEveryone({ type: 'user_group', op: 'update', group_id: groupId, data }, { access: true });

/** Edits a group, on condition that it is unchanged since it was read. */
export function doEdit(realm: string, decided: DecidedEdit): Change<Record<string, never>> {
  const { before, after } = decided;
  const { groupId, name, description, deactivated, settings } = after;
  const renaming: Write[] =
    name === before.name
      ? []
      : [
          { put: key('groupName', { realm, name }), item: { groupId }, when: { absent: true } },
          { delete: key('groupName', { realm, name: before.name }) },
        ];
  return {
    writes: [
      {
        update: key('group', { realm, groupId }),
        change: { set: { name, description, deactivated, settings, version: before.version + 1 } },
        when: hasVersion(before.version),
        lastWriterWins: true,
      },
      ...renaming,
      ...doUseGroups(realm, { groupId }, Object.values(before.settings), Object.values(settings)),
      ...doUseQuota(realm, 'groups', groupBytes(after) - groupBytes(before)),
      ...(deactivated === before.deactivated ? [] : [doMarkActive(realm, groupId)]),
    ],
    entries: eventsOfEdit(decided),
    result: {},
  };
}
