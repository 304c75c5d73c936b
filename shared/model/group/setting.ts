import { badRequest, refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/lookup.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import {
  type GroupSetting,
  type GroupSettingChange,
  type GroupSettingRule,
  groupsOf,
  initialSettings,
  isSystemGroup,
  mapSettings,
  normalized,
  sameSetting,
  systemGroups,
} from '../permission/permission.ts';
import type { User } from '../user/user.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    groupUse: GroupUse;
  }
}

/** Existing groups and users referenced by setting values. */
export interface SettingReferences {
  readonly groups: ReadonlyMap<number, { readonly deactivated: boolean }>;
  readonly users: ReadonlyMap<number, Pick<User, 'isActive'>>;
}

/** Most users and groups in one value, which is stored and sent with its channel. */
const MAX_LISTED = 500;

const peopleOf = (setting: GroupSetting): readonly number[] =>
  typeof setting === 'number' ? [] : setting.direct_members;

/** Loads the named groups and users that values reference. One round trip. */
export async function loadSettingReferences(
  table: Table,
  realm: string,
  settings: readonly GroupSetting[],
): Promise<SettingReferences> {
  const valid = settings.filter(
    (setting) => groupsOf(setting).length + peopleOf(setting).length <= MAX_LISTED,
  );
  const ids = (listed: (setting: GroupSetting) => readonly number[]): number[] =>
    [...new Set(valid.flatMap(listed))].filter(isId);
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
 * Checks the value of a setting and returns its normal form (wire facts 4.5).
 *
 * @throws Refusal for unknown or deactivated groups and users, and for groups that the rule forbids
 */
export function checkGroupSetting(
  name: string,
  rule: GroupSettingRule,
  given: GroupSetting,
  named: SettingReferences,
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

/** The settings of a new channel or group: those of the request, checked, and first values for the rest. */
export function checkNewSettings<N extends string>(
  rules: Readonly<Record<N, GroupSettingRule>>,
  creatorId: number,
  input: { readonly [K in N]?: GroupSetting | undefined },
  named: SettingReferences,
): Record<N, GroupSetting> {
  const initial = initialSettings(rules, creatorId);
  const settings = mapSettings(rules, (name, rule) =>
    input[name] === undefined ? initial[name] : checkGroupSetting(name, rule, input[name], named),
  );
  checkNamedGroups(Object.values(settings));
  return settings;
}

/**
 * The settings after the changes in a request (specification 2.2, wire facts 4.5). An unchanged value is not checked, as in
 * the reference.
 *
 * @throws Refusal `EXPECTATION_MISMATCH` if a setting has not the value that the caller expects
 */
export function checkChangedSettings<N extends string>(
  rules: Readonly<Record<N, GroupSettingRule>>,
  before: Readonly<Record<N, GroupSetting>>,
  changes: { readonly [K in N]?: GroupSettingChange | undefined },
  named: SettingReferences,
): Record<N, GroupSetting> {
  const settings = mapSettings(rules, (name, rule) => {
    const [current, change] = [before[name], changes[name]];
    if (change?.old !== undefined && change.old !== null && !sameSetting(change.old, current)) {
      throw refusal('expectationMismatch');
    }
    const isKept = change === undefined || sameSetting(change.new, current);
    return isKept ? current : checkGroupSetting(name, rule, change.new, named);
  });
  checkNamedGroups(Object.values(settings));
  return settings;
}

function checkGroupExists(groupId: number, named: SettingReferences): void {
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
 * The channels and groups whose settings reference a group. Each change of those settings updates it in the same
 * transaction. So a group in use cannot be deactivated, and a deactivated group cannot be referenced, even by
 * concurrent requests.
 */
export interface GroupUse {
  /** Ids of channels and of other groups; absent if there are none. */
  readonly channels?: ReadonlySet<number>;
  readonly groups?: ReadonlySet<number>;
  /** The group is deactivated. Also stored here, so that new references can check it. */
  readonly deactivated?: true;
}

/** The channel or group that has the settings. */
export type SettingHolder = { readonly channelId: number } | { readonly groupId: number };

/**
 * Most named groups that the settings of one channel or group may reference. A change may replace all of them, one
 * write each, within one transaction.
 */
const MAX_NAMED = 40;

/** The named groups that settings reference, each once. */
export const namedGroupsIn = (settings: Iterable<GroupSetting>): number[] => [
  ...new Set([...settings].flatMap(groupsOf).filter((groupId) => !isSystemGroup(groupId))),
];

/** Checks that settings do not reference too many named groups. */
export function checkNamedGroups(settings: Iterable<GroupSetting>): void {
  if (namedGroupsIn(settings).length > MAX_NAMED) {
    throw badRequest(`The settings may name at most ${MAX_NAMED} different user groups.`);
  }
}

/**
 * Updates the uses when the settings of a holder change from `before` (none for a new holder) to `after`. Fails if a
 * newly referenced group was deactivated.
 */
export function doUseGroups(
  realm: string,
  holder: SettingHolder,
  before: Iterable<GroupSetting>,
  after: Iterable<GroupSetting>,
): Write[] {
  const own = 'groupId' in holder ? holder.groupId : undefined;
  // A group that references itself can still be deactivated.
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

/** The same for channels that are created together: a group that several reference takes one write. */
export function doUseGroupsInNew(
  realm: string,
  channels: readonly { readonly channelId: number; readonly groups: object }[],
): Write[] {
  const users = new Map<number, Set<number>>();
  for (const { channelId, groups } of channels) {
    for (const groupId of namedGroupsIn(Object.values<GroupSetting>({ ...groups }))) {
      users.set(groupId, (users.get(groupId) ?? new Set()).add(channelId));
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

/** Fails the transaction if one of these named groups is deactivated. */
export const doRequireActive = (realm: string, groupIds: readonly number[]): Write[] =>
  groupIds
    .filter((groupId) => !isSystemGroup(groupId))
    .map((groupId) => ({ check: key('groupUse', { realm, groupId }), when: isActive }));

/** Marks a group as deactivated. Fails if its uses have changed since they were read. */
export const doMarkDeactivated = (realm: string, groupId: number, seen: GroupUse | undefined): Write => ({
  ...useOf(realm, groupId, { set: { deactivated: true } }),
  when: { equals: { channels: seen?.channels, groups: seen?.groups } },
});

/** Marks a group as active again. */
export const doMarkActive = (realm: string, groupId: number): Write =>
  useOf(realm, groupId, { remove: ['deactivated'] });
