import { badRequest } from '../../kernel/errors.ts';
import { folded } from '../../kernel/folding.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { doUseQuota, loadQuotaUse } from '../../kernel/quota.ts';
import { type Commit, fitsSlot } from '../../log/bulk.ts';
import type { Change } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import { extractReferences, type References } from '../../markdown/references.ts';
import { type ChannelWithSubscription, loadChannel } from '../../model/channel/access.ts';
import { type Channel, channelBytes, channelNameProblem } from '../../model/channel/channel.ts';
import { doMoveToFolder, type Folder, loadFolder } from '../../model/channel/folder.ts';
import { doLimitChannel } from '../../model/channel/retention.ts';
import { type ChannelGroupName, channelGroupNames } from '../../model/channel/settings.ts';
import { doUseGroups, loadNamedInSettings, type NamedInSettings } from '../../model/group/setting.ts';
import type { CountChange } from '../../model/message/topic.ts';
import type { GroupSetting, GroupSettingChange } from '../../model/permission/permission.ts';
import { isWebPublicEnabled } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import { key } from '../../table/keys.ts';
import type { Changes, Write } from '../../table/write.ts';
import { type LoadedReferences, loadReferences, referenceLookupKeys } from '../mention/references.ts';
import { doPostNotices, loadNoticeSnapshot, type NoticeSnapshot } from '../send/notice.ts';
import { type DecidedEdit, eventsOfChannelEdit, noticesOfChannelEdit } from './events.ts';

/** What a request changes of a channel, under the wire names (specification 4.2). What is absent stays. */
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

/** What an edit is decided on. */
export interface EditSnapshot extends NoticeSnapshot {
  readonly seen: ChannelWithSubscription | undefined;
  /** The channel that bears the new name, if one does. */
  readonly holder: ChannelWithSubscription | undefined;
  readonly folder: Folder | undefined;
  readonly named: NamedInSettings;
  /** What the new description refers to. */
  readonly inDescription: LoadedReferences;
  /** The service has web-public channels. */
  readonly isWebPublicEnabled: boolean;
  /** How many bytes the organization's channels take. */
  readonly channelBytes: number;
}

/** The new name, where it can be one; others are refused later, by those who may edit at all. */
function newName({ new_name }: ChannelEdit): LookupKey<'channelName'>[] {
  const name = new_name?.trim();
  return name === undefined || channelNameProblem(name) !== undefined ? [] : [{ kind: 'channelName', name }];
}

/** An edit of a channel that somebody asks for. */
export interface AskedChannelEdit {
  readonly channelId: number;
  readonly edit: ChannelEdit;
  /** The names in the new description. */
  readonly names: References;
}

/** Interprets the parameters of an edit. */
export const parseChannelEdit = ({
  stream_id: channelId,
  ...edit
}: ChannelEdit & { readonly stream_id: number }): AskedChannelEdit => ({
  channelId,
  edit,
  names: extractReferences(edit.description ?? ''),
});

/** The names in an edit, to be looked up before its snapshot is read. */
export const editLookupKeys = ({ edit, names }: AskedChannelEdit): LookupKey[] => [
  ...newName(edit),
  ...referenceLookupKeys(names),
];

/** Most numbers: an event and a notice for each thing that changes, three events for those who gain or lose sight of it. */
export const numbersOfChannelEdit = ({ edit }: AskedChannelEdit): number => 2 * Object.keys(edit).length + 3;

/** Reads the snapshot in one round trip. */
export async function loadEditSnapshot(
  outside: Outside,
  resolved: Resolved,
  userId: number,
  { channelId, edit, names }: AskedChannelEdit,
): Promise<EditSnapshot> {
  const { table } = outside;
  const { realm } = resolved;
  const [holderId] = newName(edit).flatMap((pointer) => resolved.follow(pointer)?.channelId ?? []);
  const settings = channelGroupNames.flatMap((name) => edit[name]?.new ?? []);
  const [seen, holder, folder, named, inDescription, channelBytes, notices] = await Promise.all([
    loadChannel(table, realm, channelId, userId),
    holderId === undefined ? undefined : loadChannel(table, realm, holderId, userId),
    loadFolder(table, realm, edit.folder_id),
    loadNamedInSettings(table, realm, settings),
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

/** A decided edit as a transaction. */
interface EditPlan {
  /** How many numbers of the log it takes; none where nothing becomes different. */
  readonly count: number;
  /** The events of the edit itself. */
  readonly events: readonly EventEntry[];
  readonly change: (numbers: readonly number[]) => Change<Record<string, never>>;
}

/** What an edit means for other things than the channel, and what is told of that. */
export interface Beside {
  readonly writes: readonly Write[];
  readonly events: readonly EventEntry[];
}

/**
 * Carries out a decided edit in one transaction, or does nothing where nothing becomes different.
 *
 * @param now milliseconds
 * @param beside what the edit changes besides the channel
 * @throws Refusal `BAD_REQUEST` where the events are more than one transaction takes
 */
export async function editChannel(
  caller: Caller,
  commit: Commit,
  edit: DecidedEdit,
  snapshot: NoticeSnapshot,
  now: number,
  beside?: Beside,
): Promise<Record<string, never>> {
  const plan = planEdit(caller, edit, snapshot, now, beside);
  checkEditSize(plan);
  return plan.count === 0 ? {} : commit(plan.count, plan.change);
}

/** Refuses an edit whose events one transaction cannot hold: the values of settings in them can be long. */
export function checkEditSize({ events }: Pick<EditPlan, 'events'>): void {
  if (!fitsSlot(events)) {
    throw badRequest('The settings list too many people and groups to be changed in one request.');
  }
}

/**
 * An edit as one transaction: the channel, held to the version that was decided on, what depends on its settings
 * elsewhere, and what clients and the channel itself are told.
 *
 * @param now milliseconds
 */
export function planEdit(
  caller: Caller,
  edit: DecidedEdit,
  snapshot: NoticeSnapshot,
  now: number,
  beside: Beside = { writes: [], events: [] },
): EditPlan {
  const { realmId: realm, user, realm: organization } = caller;
  const events = [...eventsOfChannelEdit(edit, snapshot.count), ...beside.events];
  const texts = organization.settings.send_channel_events_messages ? noticesOfChannelEdit(edit, user) : [];
  const notices = { channel: edit.after, texts, actor: user, noticeBotId: organization.noticeBotId, now };
  const change = (numbers: readonly number[]): Change<Record<string, never>> => {
    const posted = doPostNotices(realm, notices, snapshot, numbers.slice(events.length), countChange(edit));
    return {
      writes: [...doEditChannel(caller, edit), ...posted.writes, ...beside.writes],
      entries: [...events, ...posted.entries],
      result: {},
    };
  };
  return { count: events.length + texts.length, events, change };
}

/** The channel itself, its name, its folder and the groups that it names. */
function doEditChannel(
  { realmId: realm, realm: organization }: Caller,
  { before, after }: DecidedEdit,
): Write[] {
  const { channelId } = after;
  const settings = ({ groups }: Channel): GroupSetting[] => Object.values(groups);
  return [
    {
      update: key('channel', { realm, channelId }),
      change: changesOf(before, after),
      when: { equals: { version: before.version } },
      lastWriterWins: true,
    },
    ...doRename(realm, before, after),
    ...doLimitChannel(realm, { ...after, version: before.version + 1 }, before.messageRetentionDays),
    ...doMoveToFolder(realm, before.folderId, after.folderId),
    ...doUseGroups(realm, { channelId }, settings(before), settings(after)),
    ...doUseQuota(realm, 'channels', channelBytes(after) - channelBytes(before)),
    ...(opens({ before, after })
      ? [{ check: key('realm', { realm }), when: { equals: { version: organization.version } } }]
      : []),
  ];
}

/** Whether more people can read the channel than before: that rests on the settings of the organization. */
const opens = ({ before, after }: DecidedEdit): boolean =>
  (before.isPrivate && !after.isPrivate) || (!before.isWebPublic && after.isWebPublic);

/** The attributes that became different, and a new version. */
function changesOf(before: Channel, after: Channel): Changes {
  const { version, ...now } = after;
  const old: Readonly<Record<string, unknown>> = { ...before };
  const set = Object.fromEntries(
    Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name])),
  );
  const remove = Object.keys(old).filter((name) => isOptional(name) && !(name in now));
  return { set: { ...set, version: version + 1 }, ...(remove.length > 0 && { remove }) };
}

/** Attributes that a channel may lose. */
const isOptional = (name: string): boolean => name === 'messageRetentionDays' || name === 'folderId';

/** The guards of the names. A change of case only leaves the name where it is. */
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
 * What an edit changes of the channel's counts, or asks of them. They are where a send and an edit meet: either the
 * named topic comes first and the restriction is refused, or the restriction does and the topic is.
 */
function countChange({ before, after }: DecidedEdit): CountChange | undefined {
  const [was, is] = [before, after].map(({ topicsPolicy }) => topicsPolicy === 'empty_topic_only');
  const peopled =
    before.isArchived && !after.isArchived && after.isPrivate ? { above: { subscribers: 0 } } : {};
  const restricts = is && !was;
  const frees = was && !is;
  if (!restricts && !frees && !('above' in peopled)) return undefined;
  return {
    ...(restricts && { set: { onlyEmptyTopic: true as const } }),
    ...(frees && { remove: ['onlyEmptyTopic'] as const }),
    when: { absent: false, ...peopled, ...(restricts && { below: { namedTopics: 1 } }) },
  };
}
