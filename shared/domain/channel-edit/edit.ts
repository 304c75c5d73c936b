import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { loadQuotaUse } from '../../kernel/quota.ts';
import { extractReferences, type References } from '../../markdown/references.ts';
import { type ChannelWithSubscription, loadChannel } from '../../model/channel/access.ts';
import { type Channel, channelNameProblem } from '../../model/channel/channel.ts';
import { type Folder, loadFolder } from '../../model/channel/folder.ts';
import { type ChannelGroupName, channelGroupNames } from '../../model/channel/groups.ts';
import { loadNamedInSettings, type NamedInSettings } from '../../model/group/setting-check.ts';
import type { GroupSettingChange } from '../../model/permission/group-setting.ts';
import { isWebPublicEnabled } from '../../model/realm/web-public.ts';
import { type LoadedReferences, loadNamed, nameLookupKeys } from '../mention/naming.ts';
import { loadNoticeSnapshot, type NoticeSnapshot } from '../send/channel-notice.ts';

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

/** The channel before and after an edit that was decided on. */
export interface DecidedEdit {
  readonly before: Channel;
  readonly after: Channel;
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
  ...nameLookupKeys(names),
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
    loadNamed(outside, resolved, names, userId),
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
