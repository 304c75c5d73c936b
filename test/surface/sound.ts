import { expect } from 'vitest';
import { folded } from '../../shared/kernel/text.ts';
import type { Channel } from '../../shared/model/channel/channel.ts';
import {
  type GroupSetting,
  groupsOf,
  isSystemGroup,
  systemGroups,
} from '../../shared/model/permission/permission.ts';
import { audit } from '../support/audit/audit.ts';
import type { TestRealm } from '../support/realm.ts';
import { words } from './deed.ts';
import type { Known } from './known.ts';

const { everyone, internet } = systemGroups;

/** Settings that guests never hold, so that they cannot be everyone (wire facts 4.5, 7). */
const notForEveryone: readonly string[] = [
  'can_add_subscribers_group',
  'can_administer_channel_group',
  'can_subscribe_group',
  'can_add_members_group',
  'can_join_group',
  'can_manage_group',
  'can_remove_members_group',
];

/** All that must be true of an organization when nobody is changing it. */
export async function expectSound(realm: TestRealm, known: Known): Promise<void> {
  const { channels, groups, folders } = known;
  const broken = [
    ...channels.flatMap((channel) =>
      brokenIn(channel, known).map((what) => `channel ${channel.name}: ${what}`),
    ),
    ...groups.flatMap(({ name, settings, deactivated }) =>
      deactivated ? [] : brokenSettings({ ...settings }, known).map((what) => `group ${name}: ${what}`),
    ),
    ...folders.flatMap(({ name, isArchived, channels }) =>
      isArchived && channels > 0 ? [`folder ${name} is archived with ${channels} channels`] : [],
    ),
    ...(await brokenCounts(realm, channels)),
    ...(await audit(realm)),
  ];
  expect(broken).toEqual([]);
}

/** What is wrong with a channel by itself (specification 4.2, wire facts 4.3). */
function brokenIn(channel: Channel, known: Known): string[] {
  const { isPrivate, isWebPublic, historyPublicToSubscribers: isShared, isDefault, groups } = channel;
  const requests = known.realm.settings.moderation_request_channel_id === channel.channelId;
  const folder = known.folders.find(({ folderId }) => folderId === channel.folderId);
  const rules: [string, boolean][] = [
    ['is web-public and private', isWebPublic && isPrivate],
    ['hides the history of what everybody may read', !isShared && !isPrivate],
    ['is private and a default channel', isPrivate && isDefault],
    ['is archived and a default channel', channel.isArchived && isDefault],
    [
      'hides its history, but not everyone may begin topics',
      !isShared && groups.can_create_topic_group !== everyone.id,
    ],
    ['takes requests for moderation in public', requests && !isPrivate],
    ['takes requests for moderation in the archive', requests && channel.isArchived],
    ['is in a folder that does not exist', channel.folderId !== undefined && folder === undefined],
  ];
  const own = rules.flatMap(([what, isSo]) => (isSo ? [what] : []));
  return channel.isArchived ? own : [...own, ...brokenSettings({ ...groups }, known)];
}

/** What is wrong with group settings: they name what may hold them, and only groups in use. */
const brokenSettings = (
  settings: Readonly<Record<string, GroupSetting>>,
  { groups, users }: Known,
): string[] =>
  Object.entries(settings).flatMap(([name, setting]) => {
    const named = groupsOf(setting);
    const people = typeof setting === 'number' ? [] : setting.direct_members;
    const isOut = (id: number): boolean =>
      !isSystemGroup(id) && groups.find(({ groupId }) => groupId === id)?.deactivated !== false;
    return [
      ...named.filter(isOut).map((id) => `${name} names the group ${id}, which is not in use`),
      ...people.filter((id) => !users.has(id)).map((id) => `${name} names the unknown person ${id}`),
      ...(named.includes(internet.id) ? [`${name} names the internet`] : []),
      ...(notForEveryone.includes(name) && named.includes(everyone.id) ? [`${name} names everyone`] : []),
    ];
  });

/** Whether counts hold the policy of the channel, and names that nothing bears any more are free. */
async function brokenCounts({ realm, outside }: TestRealm, channels: readonly Channel[]): Promise<string[]> {
  const found = await Promise.all(
    channels.map(async ({ channelId, name, topicsPolicy }) => {
      const count = await outside.table.get('channelCount', { realm, channelId });
      const isOnly = topicsPolicy === 'empty_topic_only';
      if ((count?.onlyEmptyTopic === true) !== isOnly)
        return [`channel ${name}: its count holds another policy`];
      return isOnly && (count?.namedTopics ?? 0) > 0 ? [`channel ${name}: it has named topics`] : [];
    }),
  );
  const names = words.map((word) => `c${word}`);
  const held = await Promise.all(
    names.map((name) => outside.table.get('channelName', { realm, name: folded(name) })),
  );
  const leaked = names.filter((name, i) => {
    const holder = channels.find(({ channelId }) => channelId === held[i]?.channelId);
    return held[i] !== undefined && folded(holder?.name ?? '') !== folded(name);
  });
  return [...found.flat(), ...leaked.map((name) => `the name ${name} leads to another channel`)];
}
