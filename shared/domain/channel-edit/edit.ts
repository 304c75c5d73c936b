import { badRequest } from '../../kernel/errors.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { doUseQuota, loadQuotaUse } from '../../kernel/quota.ts';
import { folded } from '../../kernel/text.ts';
import type { Commit } from '../../log/bulk.ts';
import { type EventEntry, fitsSlot } from '../../log/slot.ts';
import { extractReferences, type References } from '../../markdown/references.ts';
import { type ChannelWithSubscription, loadChannel } from '../../model/channel/access.ts';
import {
  type Channel,
  type ChannelGroupName,
  channelBytes,
  channelGroupNames,
  channelNameProblem,
} from '../../model/channel/channel.ts';
import { doMoveToFolder, type Folder, loadFolder } from '../../model/channel/folder.ts';
import { doSetChannelRetention } from '../../model/channel/retention.ts';
import { doUseGroups, loadSettingReferences, type SettingReferences } from '../../model/group/setting.ts';
import type { CountChange } from '../../model/message/topic.ts';
import type { GroupSetting, GroupSettingChange } from '../../model/permission/permission.ts';
import { isWebPublicEnabled } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import { key } from '../../table/keys.ts';
import { type Changes, hasVersion, type Write } from '../../table/write.ts';
import { type LoadedReferences, loadReferences, referenceLookupKeys } from '../mention/references.ts';
import { doPostNotices, loadNoticeSnapshot, type NoticeSnapshot } from '../send/notice.ts';
import { type DecidedEdit, eventsOfChannelEdit, noticesOfChannelEdit } from './events.ts';

/** The changes in a request, under their wire names (specification 4.2). Absent fields stay as they are. */
export type ChannelEdit = {
  readonly description?: string;
  readonly new_name?: string;
  readonly is_private?: boolean;
  readonly is_web_public?: boolean;
  readonly history_public_to_subscribers?: boolean;
  readonly is_default_stream?: boolean;
  readonly message_retention_days?: string;
  readonly is_archived?: boolean;
  readonly folder_id?: number | null;
  readonly topics_policy?: string;
} & { readonly [K in ChannelGroupName]?: GroupSettingChange };

export interface EditSnapshot extends NoticeSnapshot {
  readonly seen: ChannelWithSubscription | undefined;
  /** The channel that already has the new name. */
  readonly holder: ChannelWithSubscription | undefined;
  readonly folder: Folder | undefined;
  readonly named: SettingReferences;
  /** What the new description refers to. */
  readonly inDescription: LoadedReferences;
  /** The deployment supports web-public channels. */
  readonly isWebPublicEnabled: boolean;
  /** How many bytes the organization's channels use. */
  readonly channelBytes: number;
}

/** A parsed request to edit a channel. */
export interface ChannelEditRequest {
  readonly channelId: number;
  readonly edit: ChannelEdit;
  /** The names in the new description. */
  readonly names: References;
}

export const parseChannelEdit = ({
  stream_id: channelId,
  ...edit
}: ChannelEdit & { readonly stream_id: number }): ChannelEditRequest => ({
  channelId,
  edit,
  names: extractReferences(edit.description ?? ''),
});

/** The new name if it is valid. `checkChannelEdit` refuses an invalid one, after the permissions. */
function newNameKeys({ new_name }: ChannelEdit): LookupKey<'channelName'>[] {
  const name = new_name?.trim();
  return name === undefined || channelNameProblem(name) !== undefined ? [] : [{ kind: 'channelName', name }];
}

/** The names to look up before the snapshot is read. */
export const editLookupKeys = ({ edit, names }: ChannelEditRequest): LookupKey[] => [
  ...newNameKeys(edit),
  ...referenceLookupKeys(names),
];

/**
 * Most log numbers: an event and a notice for each change, three events for people who gain or lose access, and the
 * default channel groups.
 */
export const numbersOfChannelEdit = ({ edit }: ChannelEditRequest): number =>
  2 * Object.keys(edit).length + 4;

/** Reads the snapshot in one round trip. */
export async function loadEditSnapshot(
  outside: Outside,
  resolved: Resolved,
  userId: number,
  { channelId, edit, names }: ChannelEditRequest,
): Promise<EditSnapshot> {
  const { table } = outside;
  const { realm } = resolved;
  const [holderId] = newNameKeys(edit).flatMap((name) => resolved.follow(name)?.channelId ?? []);
  const settings = channelGroupNames.flatMap((name) => edit[name]?.new ?? []);
  const [seen, holder, folder, named, inDescription, channelBytes, notices] = await Promise.all([
    loadChannel(table, realm, channelId, userId),
    holderId === undefined ? undefined : loadChannel(table, realm, holderId, userId),
    loadFolder(table, realm, edit.folder_id),
    loadSettingReferences(table, realm, settings),
    loadReferences(outside, resolved, names, userId),
    loadQuotaUse(table, realm, 'channels'),
    loadNoticeSnapshot(table, realm, channelId),
  ]);
  return {
    seen,
    holder,
    folder,
    named,
    inDescription,
    isWebPublicEnabled: isWebPublicEnabled(outside.environment),
    channelBytes,
    ...notices,
  };
}

/** Writes and events outside the channel that belong to the same transaction. */
interface SideEffects {
  readonly writes: readonly Write[];
  readonly events: readonly EventEntry[];
}

/**
 * Commits a decided edit: the channel, everything that depends on its settings, events, and notices in the channel. Does
 * nothing if nothing changes.
 *
 * @param now milliseconds
 * @throws Refusal `BAD_REQUEST` if the events do not fit into one transaction
 */
export async function editChannel(
  caller: Caller,
  commit: Commit,
  edit: DecidedEdit,
  snapshot: NoticeSnapshot,
  now: number,
  sideEffects: SideEffects = { writes: [], events: [] },
): Promise<Record<string, never>> {
  const { realmId: realm, user, realm: organization } = caller;
  const events = [...eventsOfChannelEdit(edit, snapshot.count), ...sideEffects.events];
  if (!fitsSlot(events)) {
    throw badRequest('The settings list too many people and groups to be changed in one request.');
  }
  const texts = organization.settings.send_channel_events_messages ? noticesOfChannelEdit(edit, user) : [];
  const count = events.length + texts.length;
  if (count === 0) return {};
  const notices = { channel: edit.after, texts, actor: user, noticeBotId: organization.noticeBotId, now };
  return commit(count, (numbers) => {
    const posted = doPostNotices(realm, notices, snapshot, numbers.slice(events.length), countChange(edit));
    return {
      writes: [...doEditChannel(caller, edit), ...posted.writes, ...sideEffects.writes],
      entries: [...events, ...posted.entries],
      result: {},
    };
  });
}

/** The channel itself, its name, retention, folder, quota, and the groups in its settings. */
function doEditChannel(
  { realmId: realm, realm: organization }: Caller,
  { before, after }: DecidedEdit,
): Write[] {
  const { channelId } = after;
  const settings = ({ groups }: Channel): GroupSetting[] => Object.values(groups);
  // Whether more people may read the channel depends on settings of the organization.
  const opens = (before.isPrivate && !after.isPrivate) || (!before.isWebPublic && after.isWebPublic);
  return [
    {
      update: key('channel', { realm, channelId }),
      change: changesOf(before, after),
      when: hasVersion(before.version),
      lastWriterWins: true,
    },
    ...doRename(realm, before, after),
    ...doSetChannelRetention(realm, { ...after, version: before.version + 1 }, before.messageRetentionDays),
    ...doMoveToFolder(realm, before.folderId, after.folderId),
    ...doUseGroups(realm, { channelId }, settings(before), settings(after)),
    ...doUseQuota(realm, 'channels', channelBytes(after) - channelBytes(before)),
    ...(opens ? [{ check: key('realm', { realm }), when: hasVersion(organization.version) }] : []),
  ];
}

/** The attributes that changed, and a new version. */
function changesOf(before: Channel, after: Channel): Changes {
  const { version, ...now } = after;
  const old: Readonly<Record<string, unknown>> = { ...before };
  const set = Object.fromEntries(
    Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name])),
  );
  const remove = ['messageRetentionDays', 'folderId'].filter((name) => name in old && !(name in now));
  return { set: { ...set, version: version + 1 }, ...(remove.length > 0 && { remove }) };
}

/** Moves the guard of the name. Names differ by more than case. */
function doRename(realm: string, before: Channel, after: Channel): Write[] {
  const [old, now] = [folded(before.name), folded(after.name)];
  if (old === now) return [];
  const { channelId } = after;
  return [
    { put: key('channelName', { realm, name: now }), item: { channelId }, when: { absent: true } },
    { delete: key('channelName', { realm, name: old }) },
  ];
}

/**
 * Changes and conditions on the channel's counters, where a send and an edit meet: if a named topic is created first, the
 * restriction to the empty topic is refused; if the restriction is first, the topic is.
 */
function countChange({ before, after }: DecidedEdit): CountChange | undefined {
  const [was, is] = [before, after].map(({ topicsPolicy }) => topicsPolicy === 'empty_topic_only');
  const needsSubscribers = before.isArchived && !after.isArchived && after.isPrivate;
  const restricts = is && !was;
  const frees = was && !is;
  if (!restricts && !frees && !needsSubscribers) return undefined;
  return {
    ...(restricts && { set: { onlyEmptyTopic: true as const } }),
    ...(frees && { remove: ['onlyEmptyTopic'] as const }),
    when: {
      absent: false,
      ...(needsSubscribers && { above: { subscribers: 0 } }),
      ...(restricts && { below: { namedTopics: 1 } }),
    },
  };
}
