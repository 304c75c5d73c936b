import { noGroups } from '../../kernel/lookup.ts';
import type { Channel } from '../../model/channel/channel.ts';
import { folderObjects, loadFolders } from '../../model/channel/folder.ts';
import { channelObject } from '../../model/channel/object.ts';
import { groupObject } from '../../model/group/group.ts';
import { loadMemberIds } from '../../model/group/member.ts';
import { loadMessages } from '../../model/message/load.ts';
import { subgroupsOf, systemGroups } from '../../model/permission/permission.ts';
import { domainObject, loadDomains } from '../../model/realm/domains.ts';
import { IMAGES, imageKey } from '../../model/realm/picture.ts';
import { defaultRealmSettings, NO_CHANNEL, type RealmSettings } from '../../model/realm/realm.ts';
import { userObject } from '../../model/user/object.ts';
import type { Page } from '../../table/query.ts';
import { emojiFile } from '../emoji/emoji.ts';
import { objectKey, type StoredFile, UPLOADS } from '../files/file.ts';
import { fieldObjects } from '../profile/field.ts';
import { liveValues, valueObject } from '../profile/value.ts';
import type { ArchiveFile, Section, Snapshot } from './archive-file.ts';
import { messages } from './message.ts';
import type { Scope } from './plan.ts';
import type { SectionName } from './realm-export.ts';

const linesOf = (records: readonly object[]): string[] => records.map((record) => JSON.stringify(record));

/** A page of a list in id order, and where the next page begins. */
function partOf<T>({ items, more }: Page<T>, idOf: (item: T) => number) {
  const last = items.at(-1);
  return { items, next: more && last !== undefined ? { id: idOf(last) + 1, sub: 0 } : undefined };
}

/** Emoji that are read at once, with their images. */
const EMOJI_AT_ONCE = 10;

/** Custom emoji, also deactivated ones, and their images. */
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
  return { lines, files, next };
};

/** The image with this URL, as a file of the archive; undefined if it is missing. */
async function imageAt(
  { objects, realm }: Snapshot,
  url: string,
  name: string,
): Promise<ArchiveFile | undefined> {
  const file = url.slice(url.lastIndexOf('/') + 1);
  const found = await objects.get(IMAGES, imageKey(realm, emojiFile(file)));
  return found && { name: `emoji/images/${name}${file.slice(file.lastIndexOf('.'))}`, bytes: found.bytes };
}

/** Files that are read at once, with their bytes: 16 MiB at most. */
const FILES_AT_ONCE = 4;

/**
 * The uploaded files of one user, with their bytes: those that an exported message holds, or all if everything is exported.
 * `from.sub` is the first file.
 */
const attachments: Section = async (snapshot, from) => {
  const { table, realm } = snapshot;
  const { items } = await table.page('user', { realm }, { from: { userId: from.id }, limit: 1 });
  const [user] = items;
  if (user === undefined) return { next: undefined };
  const { userId } = user;
  const range = { from: { attachmentId: userId === from.id ? from.sub : 0 }, limit: FILES_AT_ONCE };
  const page = await table.page('attachment', { realm, userId }, range);
  const { items: own, next } = partOf(page, ({ attachmentId }) => attachmentId);
  const lines: string[] = [];
  const files: ArchiveFile[] = [];
  for (const { token } of own) {
    const file = await table.get('file', { realm, token });
    const messageIds = file && (await exportedHolders(snapshot, file));
    if (file === undefined || messageIds === undefined) continue;
    const { attachmentId, name, pathId, size, contentType, created } = file;
    const stored = await snapshot.objects.get(UPLOADS, objectKey(realm, token));
    // Names are made by people, so they are in the record only.
    const archived = stored && { name: `attachments/files/${attachmentId}`, bytes: stored.bytes };
    if (archived) files.push(archived);
    const record = {
      id: attachmentId,
      user_id: userId,
      name,
      path_id: pathId,
      size,
      content_type: contentType,
    };
    const create_time = Math.floor(created / 1000);
    lines.push(
      JSON.stringify({ ...record, create_time, message_ids: messageIds, file: archived?.name ?? null }),
    );
  }
  return { lines, files, next: next ? { id: userId, sub: next.id } : { id: userId + 1, sub: 0 } };
};

/** The exported messages that hold a file; undefined if the file is not exported. */
async function exportedHolders(
  { table, realm, plan, scope }: Snapshot,
  { pathId, messageIds = new Set() }: StoredFile,
): Promise<number[] | undefined> {
  const messages = await loadMessages(table, realm, [...messageIds]);
  const holding = messages.filter(({ files }) => files?.includes(pathId)).filter(scope.message);
  if (holding.length === 0 && !plan.everything) return undefined;
  return holding.map(({ id }) => id).sort((a, b) => a - b);
}

const channels: Section = async ({ table, realm, scope }, from, room) => {
  const page = await table.page('channel', { realm }, { from: { channelId: from.id }, limit: room.lines });
  const { items, next } = partOf(page, ({ channelId }) => channelId);
  const exported = items.filter(({ channelId }) => scope.channel(channelId));
  return { lines: linesOf(exported.map(exportedChannel)), next };
};

/** A channel as clients see it, without counters and derived fields. */
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

/** The subscribers of one channel, without their own settings for it. `from.sub` is the first user. */
const subscriptions: Section = async ({ table, realm, scope }, from, room) => {
  const { items } = await table.page('channel', { realm }, { from: { channelId: from.id }, limit: 1 });
  const [channel] = items;
  if (channel === undefined) return { next: undefined };
  const { channelId } = channel;
  const nextChannel = { id: channelId + 1, sub: 0 };
  if (!scope.channel(channelId)) return { next: nextChannel };
  const range = { from: { userId: channelId === from.id ? from.sub : 0 }, limit: room.lines };
  const page = await table.page('subscriber', { realm, channelId }, range);
  const { items: subscribers, next } = partOf(page, ({ userId }) => userId);
  const lines = linesOf(subscribers.map(({ userId }) => ({ user_id: userId, stream_id: channelId })));
  return { lines, next: next ? { id: channelId, sub: next.id } : nextChannel };
};

const folders: Section = async ({ table, realm }) => ({
  lines: linesOf(folderObjects(await loadFolders(table, realm), true)),
  next: undefined,
});

/** Named groups, also deactivated ones, with their direct members. The graph is read first, so all groups in it exist. */
const groups: Section = async ({ table, realm }, from, room) => {
  const graph = (await table.get('groupGraph', { realm })) ?? noGroups;
  const page = await table.page('group', { realm }, { from: { groupId: from.id }, limit: room.lines });
  const { items, next } = partOf(page, ({ groupId }) => groupId);
  const lines: string[] = [];
  let bytes = 0;
  for (const group of items) {
    const { groupId } = group;
    if (bytes >= room.bytes) return { lines, next: { id: groupId, sub: 0 } };
    const members = await loadMemberIds(table, realm, groupId);
    const line = JSON.stringify(groupObject(group, members, subgroupsOf(graph, groupId)));
    lines.push(line);
    bytes += line.length;
  }
  return { lines, next };
};

const profileFields: Section = async ({ plan }) => ({
  lines: linesOf(fieldObjects(plan.fields)),
  next: undefined,
});

/** Users and bots, also deactivated ones, with their profiles. */
const users: Section = async ({ table, realm, plan }, from, room) => {
  const limit = Math.min(room.lines, 100);
  const page = await table.page('user', { realm }, { from: { userId: from.id }, limit });
  const { items, next } = partOf(page, ({ userId }) => userId);
  const records = items.map(async (user) => {
    const profile = await table.get('profile', { realm, userId: user.userId });
    const values = liveValues(plan.fields, profile);
    return userObject(user, {
      profile: () =>
        Object.fromEntries(values.map(([{ fieldId }, stored]) => [fieldId, valueObject(stored)])),
    });
  });
  return { lines: linesOf(await Promise.all(records)), next };
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

/** The current settings, without ids of channels that are not exported. */
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
  attachments,
  channels,
  subscriptions,
  channel_folders: folders,
  user_groups: groups,
  custom_profile_fields: profileFields,
  users,
  organization,
};
