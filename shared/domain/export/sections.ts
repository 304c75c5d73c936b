import { noGroups } from '../../kernel/lookup.ts';
import type { Channel } from '../../model/channel/channel.ts';
import { folderObjects, loadFolders } from '../../model/channel/folder.ts';
import { channelObject } from '../../model/channel/object.ts';
import { groupObject } from '../../model/group/group.ts';
import { loadMemberIds } from '../../model/group/member.ts';
import { subgroupsOf, systemGroups } from '../../model/permission/permission.ts';
import { domainObject, loadDomains } from '../../model/realm/domains.ts';
import { defaultRealmSettings, NO_CHANNEL, type RealmSettings } from '../../model/realm/realm.ts';
import { userObject } from '../../model/user/object.ts';
import { emojiKey, IMAGES } from '../emoji/emoji.ts';
import { fieldObjects } from '../profile/field.ts';
import { liveValues, valueObject } from '../profile/value.ts';
import type { ArchiveFile, Section, Snapshot } from './archive-file.ts';
import { messages } from './message.ts';
import { partOf, readChannels, readSubscribers, readUsers, type Scope } from './plan.ts';
import type { SectionName } from './realm-export.ts';

const linesOf = (records: readonly object[]): string[] => records.map((record) => JSON.stringify(record));

const fromId = (id: number | undefined) => (id === undefined ? undefined : { id, sub: 0 });

/** Emoji that are read at once, with their images. */
const EMOJI_AT_ONCE = 10;

/** Custom emoji, deactivated ones too, and their images. */
const emoji: Section = async (snapshot, from) => {
  const { table, realm } = snapshot;
  const page = await table.page('emoji', { realm }, { from: { emojiId: from.id }, limit: EMOJI_AT_ONCE });
  const { items, next } = partOf(page, ({ emojiId }) => emojiId);
  const lines: string[] = [];
  const files: ArchiveFile[] = [];
  for (const { emojiId, name, authorId, deactivated, sourceUrl, stillUrl } of items) {
    const image = await imageAt(snapshot, sourceUrl, `${emojiId}`);
    const still = stillUrl === null ? undefined : await imageAt(snapshot, stillUrl, `${emojiId}-still`);
    for (const file of [image, still]) if (file !== undefined) files.push(file);
    lines.push(
      JSON.stringify({
        id: emojiId,
        name,
        author_id: authorId,
        deactivated,
        image: image?.name ?? null,
        still: still?.name ?? null,
      }),
    );
  }
  return { lines, files, next: fromId(next) };
};

/** The image at an address, under a name of its own; undefined where it is lost. */
async function imageAt(
  { objects, realm }: Snapshot,
  url: string,
  name: string,
): Promise<ArchiveFile | undefined> {
  const file = url.slice(url.lastIndexOf('/') + 1);
  const found = await objects.get(IMAGES, emojiKey(realm, file));
  return found && { name: `emoji/images/${name}${file.slice(file.lastIndexOf('.'))}`, bytes: found.bytes };
}

const channels: Section = async ({ table, realm, scope }, from, room) => {
  const { items, next } = await readChannels(table, realm, from.id, room.lines);
  return {
    lines: linesOf(items.filter(({ channelId }) => scope.channel(channelId)).map(exportedChannel)),
    next: fromId(next),
  };
};

/** A channel as clients see it, without what is counted or follows from something else. */
function exportedChannel(channel: Channel) {
  const {
    first_message_id: _first,
    subscriber_count: _count,
    stream_weekly_traffic: _traffic,
    is_recently_active: _active,
    is_announcement_only: _announcement,
    stream_post_policy: _policy,
    ...record
  } = channelObject(channel, undefined);
  return { ...record, is_default: channel.isDefault };
}

/** Channels whose subscribers are read in one go. */
const CHANNELS_AT_ONCE = 50;

/** Who is subscribed to which of the channels. What each of them chose for it is theirs. */
const subscriptions: Section = async ({ table, realm, scope }, from, room) => {
  const { items, next } = await readChannels(table, realm, from.id, CHANNELS_AT_ONCE);
  const lines: string[] = [];
  for (const { channelId } of items) {
    if (!scope.channel(channelId)) continue;
    for (let sub: number | undefined = channelId === from.id ? from.sub : 0; sub !== undefined; ) {
      if (lines.length >= room.lines) return { lines, next: { id: channelId, sub } };
      const limit = room.lines - lines.length;
      const page: { items: readonly { userId: number }[]; next: number | undefined } = await readSubscribers(
        table,
        realm,
        channelId,
        sub,
        limit,
      );
      for (const { userId } of page.items) {
        lines.push(JSON.stringify({ user_id: userId, stream_id: channelId }));
      }
      sub = page.next;
    }
  }
  return { lines, next: fromId(next) };
};

const folders: Section = async ({ table, realm }) => ({
  lines: linesOf(folderObjects(await loadFolders(table, realm), true)),
  next: undefined,
});

/** Named groups with their direct members, deactivated ones too. The graph is read first: what it names is there. */
const groups: Section = async ({ table, realm }, from, room) => {
  const graph = (await table.get('groupGraph', { realm })) ?? noGroups;
  const page = await table.page('group', { realm }, { from: { groupId: from.id }, limit: room.lines });
  const { items, next } = partOf(page, ({ groupId }) => groupId);
  const lines: string[] = [];
  let bytes = 0;
  for (const group of items) {
    const { groupId } = group;
    if (bytes >= room.bytes) return { lines, next: fromId(groupId) };
    const members = await loadMemberIds(table, realm, groupId);
    const line = JSON.stringify(groupObject(group, members, subgroupsOf(graph, groupId)));
    lines.push(line);
    bytes += line.length;
  }
  return { lines, next: fromId(next) };
};

const profileFields: Section = async ({ plan }) => ({
  lines: linesOf(fieldObjects(plan.fields)),
  next: undefined,
});

/** Users and bots, deactivated ones too, with what their profiles say. */
const users: Section = async ({ table, realm, plan }, from, room) => {
  const { items, next } = await readUsers(table, realm, from.id, Math.min(room.lines, 100));
  const records = items.map(async (user) => {
    const profile = await table.get('profile', { realm, userId: user.userId });
    const values = liveValues(plan.fields, profile);
    return userObject(user, {
      profile: () =>
        Object.fromEntries(values.map(([{ fieldId }, stored]) => [fieldId, valueObject(stored)])),
    });
  });
  return { lines: linesOf(await Promise.all(records)), next: fromId(next) };
};

const organization: Section = async ({ table, realm, scope }) => {
  const [found, domains] = await Promise.all([table.get('realm', { realm }), loadDomains(table, realm)]);
  if (found === undefined) throw new Error('the organization is gone');
  const { name, description, stringId, created, settings } = found;
  const record = {
    name,
    description,
    string_id: stringId,
    date_created: created,
    settings: exportedSettings(settings, scope),
    domains: domains.list.map(domainObject),
    system_groups: Object.values(systemGroups),
  };
  const bytes = Buffer.from(`${JSON.stringify(record, undefined, 2)}\n`);
  return { files: [{ name: 'organization.json', bytes }], next: undefined };
};

/** The settings that there are, which name no channel that is not exported. */
function exportedSettings(settings: RealmSettings, scope: Scope): object {
  const shown = (channelId: number): number =>
    channelId === NO_CHANNEL || scope.channel(channelId) ? channelId : NO_CHANNEL;
  return {
    ...Object.fromEntries(Object.entries(settings).filter(([name]) => name in defaultRealmSettings)),
    moderation_request_channel_id: shown(settings.moderation_request_channel_id),
    new_stream_announcements_stream_id: shown(settings.new_stream_announcements_stream_id),
  };
}

export const sections: Readonly<Record<SectionName, Section>> = {
  messages,
  emoji,
  channels,
  subscriptions,
  channel_folders: folders,
  user_groups: groups,
  custom_profile_fields: profileFields,
  users,
  organization,
};
