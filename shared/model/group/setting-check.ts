import { badRequest, refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/id.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { type GroupSetting, groupsOf, normalized } from '../permission/group-setting.ts';
import { isSystemGroup, systemGroups } from '../permission/system-group.ts';
import type { User } from '../user/user.ts';
import type { Group } from './group.ts';

/** Which groups a setting may be given to. `role:internet` is refused for every setting. */
export interface GroupSettingRule {
  readonly nobody: boolean;
  readonly everyone: boolean;
  /** Refused to the owners' group only where it says so. */
  readonly owners?: false;
  /** Only system groups, by their id: no named group, no list of people. */
  readonly systemOnly?: true;
  /** Only these of the system groups. */
  readonly only?: readonly number[];
}

/** The groups and people that setting values name, as far as they exist. */
export interface NamedInSettings {
  readonly groups: ReadonlyMap<number, Pick<Group, 'deactivated'>>;
  readonly users: ReadonlyMap<number, Pick<User, 'isActive'>>;
}

/** Most people and groups that one value may list: it is stored and sent with its channel every time. */
const MAX_LISTED = 500;

const peopleOf = (setting: GroupSetting): readonly number[] =>
  typeof setting === 'number' ? [] : setting.direct_members;

/** Reads the groups and people that the values name, in one round trip. System groups need no reading. */
export async function loadNamedInSettings(
  table: Table,
  realm: string,
  settings: readonly GroupSetting[],
): Promise<NamedInSettings> {
  const few = settings.filter((setting) => groupsOf(setting).length + peopleOf(setting).length <= MAX_LISTED);
  const ids = (listed: (setting: GroupSetting) => readonly number[]): number[] =>
    [...new Set(few.flatMap(listed))].filter(isId);
  const [groups, users] = await Promise.all([
    table.getMany(
      ids(groupsOf)
        .filter((groupId) => !isSystemGroup(groupId))
        .map((groupId) => key('group', { realm, groupId })),
    ),
    table.getMany(ids(peopleOf).map((userId) => key('user', { realm, userId }))),
  ]);
  return {
    groups: new Map(groups.map((group) => [group.groupId, group])),
    users: new Map(users.map((user) => [user.userId, user])),
  };
}

/**
 * Decides whether a setting may have this value, and gives it its one form (wire facts 4.5). Refuses groups that
 * are unknown, deactivated or forbidden for this setting, and people who are unknown or deactivated.
 */
export function checkGroupSetting(
  name: string,
  rule: GroupSettingRule,
  given: GroupSetting,
  named: NamedInSettings,
): GroupSetting {
  const setting = normalized(given);
  const listed = groupsOf(setting).length + peopleOf(setting).length;
  if (listed > MAX_LISTED) throw badRequest(`'${name}' lists more than ${MAX_LISTED} people and groups.`);
  if (rule.systemOnly && !(typeof setting === 'number' && isSystemGroup(setting))) {
    if (typeof setting === 'number') checkGroupExists(setting, named);
    throw refusal('systemGroupRequired', { setting: name });
  }
  for (const groupId of groupsOf(setting)) {
    checkGroupExists(groupId, named);
    const forbidden = forbiddenBy(rule).find(({ id }) => id === groupId);
    if (forbidden) throw badRequest(`'${name}' cannot be given to the group '${forbidden.name}'.`);
  }
  for (const userId of peopleOf(setting)) {
    if (!named.users.get(userId)?.isActive)
      throw badRequest(`There is no active user with the ID ${userId}.`);
  }
  return setting;
}

function checkGroupExists(groupId: number, named: NamedInSettings): void {
  if (isSystemGroup(groupId)) return;
  const group = named.groups.get(groupId);
  if (group === undefined) throw badRequest(`There is no user group with the ID ${groupId}.`);
  if (group.deactivated) throw badRequest(`The user group with the ID ${groupId} is deactivated.`);
}

const forbiddenBy = (rule: GroupSettingRule) => [
  ...Object.values(systemGroups).filter(({ id }) => rule.only?.includes(id) === false),
  systemGroups.internet,
  ...(rule.nobody ? [] : [systemGroups.nobody]),
  ...(rule.everyone ? [] : [systemGroups.everyone]),
  ...(rule.owners === false ? [systemGroups.owners] : []),
];
