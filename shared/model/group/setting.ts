import { badRequest, refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/id.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import {
  type GroupSetting,
  groupsOf,
  isSystemGroup,
  normalized,
  systemGroups,
} from '../permission/permission.ts';
import type { User } from '../user/user.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    groupUse: GroupUse;
  }
}

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

/** Existing groups and users referenced by setting values. */
export interface NamedInSettings {
  readonly groups: ReadonlyMap<number, { readonly deactivated: boolean }>;
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

/**
 * Which channels and groups have settings that name a group. It is kept by the writes that change those settings,
 * in the same transaction, one write for each group that comes or goes. So a group that is named cannot be
 * deactivated, and a deactivated one cannot be named, even by two requests at once.
 */
export interface GroupUse {
  /** Ids of the channels and of the other groups; absent where there are none. */
  readonly channels?: ReadonlySet<number>;
  readonly groups?: ReadonlySet<number>;
  /** The group is deactivated: held here too, so that a setting that comes to name it can be held to it. */
  readonly deactivated?: true;
}

/** Whose settings they are. */
export type SettingHolder = { readonly channelId: number } | { readonly groupId: number };

/**
 * Most named groups that the settings of one channel or group may name together. A change may let all of them go
 * and take as many others, one write each, and the rest of its transaction must still find room.
 */
const MAX_NAMED = 40;

/** The named groups that settings name, each once. */
export const namedGroupsIn = (settings: Iterable<GroupSetting>): number[] => [
  ...new Set([...settings].flatMap(groupsOf).filter((groupId) => !isSystemGroup(groupId))),
];

/** Decides whether the settings of one channel or group name few enough groups. */
export function checkNamedGroups(settings: Iterable<GroupSetting>): void {
  if (namedGroupsIn(settings).length > MAX_NAMED) {
    throw badRequest(`The settings may name at most ${MAX_NAMED} different user groups.`);
  }
}

/**
 * Keeps the uses right when the settings of a holder change: `before` and `after` are all of its settings (none
 * before it exists). Refused by the store when a group that comes to be named was deactivated meanwhile.
 */
export function doUseGroups(
  realm: string,
  holder: SettingHolder,
  before: Iterable<GroupSetting>,
  after: Iterable<GroupSetting>,
): Write[] {
  const own = 'groupId' in holder ? holder.groupId : undefined;
  // A group may name itself in its settings; that keeps it from nothing.
  const named = (settings: Iterable<GroupSetting>): number[] =>
    namedGroupsIn(settings).filter((groupId) => groupId !== own);
  const [old, now] = [named(before), named(after)];
  const entry =
    'channelId' in holder ? { channels: new Set([holder.channelId]) } : { groups: new Set([holder.groupId]) };
  return [
    ...now
      .filter((groupId) => !old.includes(groupId))
      .map((groupId) => ({ ...useOf(realm, groupId, { add: entry }), when: isActive })),
    ...old
      .filter((groupId) => !now.includes(groupId))
      .map((groupId) => useOf(realm, groupId, { take: entry })),
  ];
}

/** The same for channels that are created together: groups that several of them name take one write. */
export function doUseGroupsInNew(
  realm: string,
  channels: readonly { readonly channelId: number; readonly groups: object }[],
): Write[] {
  const users = new Map<number, Set<number>>();
  for (const { channelId, groups } of channels) {
    for (const groupId of namedGroupsIn(Object.values<GroupSetting>({ ...groups }))) {
      const others = users.get(groupId);
      if (others) others.add(channelId);
      else users.set(groupId, new Set([channelId]));
    }
  }
  return [...users].map(([groupId, channels]) => ({
    ...useOf(realm, groupId, { add: { channels } }),
    when: isActive,
  }));
}

const isActive = { equals: { deactivated: undefined } };

const useOf = <C>(realm: string, groupId: number, change: C) => ({
  update: key('groupUse', { realm, groupId }),
  change,
});

/** Makes the transaction fail if one of the named groups among these is deactivated. */
export const doRequireActive = (realm: string, groupIds: readonly number[]): Write[] =>
  groupIds
    .filter((groupId) => !isSystemGroup(groupId))
    .map((groupId) => ({ check: key('groupUse', { realm, groupId }), when: isActive }));

/** Marks the group as deactivated, as long as it is used by just what was seen. */
export const doMarkDeactivated = (realm: string, groupId: number, seen: GroupUse | undefined): Write => ({
  ...useOf(realm, groupId, { set: { deactivated: true } }),
  when: { equals: { channels: seen?.channels, groups: seen?.groups } },
});

/** Marks the group as active again. */
export const doMarkActive = (realm: string, groupId: number): Write =>
  useOf(realm, groupId, { remove: ['deactivated'] });
