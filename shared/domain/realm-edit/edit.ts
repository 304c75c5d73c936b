import { type ChannelWithSubscription, loadChannel } from '../../model/channel/access.ts';
import { type RealmGroupName, realmGroupNames } from '../../model/group/realm-groups.ts';
import { loadNamedInSettings, type NamedInSettings } from '../../model/group/setting-check.ts';
import type { GroupSettingChange } from '../../model/permission/group-setting.ts';
import type { Realm, RealmSettings } from '../../model/realm/realm.ts';
import type { Table } from '../../table/table.ts';

/** Settings that are a number of seconds, or no limit. */
export const timeLimitNames = [
  'message_content_edit_limit_seconds',
  'message_content_delete_limit_seconds',
  'move_messages_within_stream_limit_seconds',
  'move_messages_between_streams_limit_seconds',
] as const satisfies readonly (keyof RealmSettings)[];

/** Settings that name a channel, or none. */
export const channelSettingNames = [
  'moderation_request_channel_id',
  'new_stream_announcements_stream_id',
] as const satisfies readonly (keyof RealmSettings)[];

export type TimeLimitName = (typeof timeLimitNames)[number];
export type ChannelSettingName = (typeof channelSettingNames)[number];

/** Settings that are words or numbers of days on the wire, each with rules of its own. */
type WordName = 'topics_policy' | 'message_edit_history_visibility_policy' | 'message_retention_days';

/** Settings that are stored as they come. */
type PlainName = Exclude<
  keyof RealmSettings,
  RealmGroupName | TimeLimitName | ChannelSettingName | WordName | 'video_chat_provider'
>;

/** What a request changes of the organization, under the wire names. What is absent stays. */
export type RealmEdit = {
  readonly name?: string;
  readonly description?: string;
  readonly video_chat_provider?: number;
} & { readonly [N in WordName | TimeLimitName]?: string } & {
  readonly [N in ChannelSettingName]?: number;
} & { readonly [N in PlainName]?: RealmSettings[N] } & {
  readonly [N in RealmGroupName]?: GroupSettingChange;
};

/** What an edit is decided on. */
export interface RealmEditSnapshot {
  readonly named: NamedInSettings;
  /** The channels that are named, as far as they exist. */
  readonly channels: ReadonlyMap<number, ChannelWithSubscription>;
}

/** The organization before and after an edit that was decided on. */
export interface DecidedRealmEdit {
  readonly before: Realm;
  readonly after: Realm;
}

/** Reads the snapshot in one round trip. */
export async function loadRealmEditSnapshot(
  table: Table,
  realm: string,
  userId: number,
  edit: RealmEdit,
): Promise<RealmEditSnapshot> {
  const [named, ...channels] = await Promise.all([
    loadNamedInSettings(
      table,
      realm,
      realmGroupNames.flatMap((name) => edit[name]?.new ?? []),
    ),
    ...channelSettingNames.map((name) => {
      const channelId = edit[name];
      return channelId === undefined ? undefined : loadChannel(table, realm, channelId, userId);
    }),
  ]);
  const found = channels.filter((seen) => seen !== undefined);
  return { named, channels: new Map(found.map((seen) => [seen.channel.channelId, seen])) };
}
