import { badRequest } from '../../kernel/errors.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { type GroupSetting, groupsOf } from '../permission/group-setting.ts';
import { isSystemGroup } from '../permission/system-group.ts';

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

declare module '../../table/keys.ts' {
  interface ItemTypes {
    groupUse: GroupUse;
  }
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
