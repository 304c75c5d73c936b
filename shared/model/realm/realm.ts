import type { Environment } from '../../environment.ts';
import { ItemVersions, type Versions } from '../../table/item-versions.ts';
import type { Item } from '../../table/write.ts';
import { type GroupSetting, systemGroups } from '../permission/permission.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    realm: Realm;
  }
}

export type TopicsPolicy = 'inherit' | 'allow_empty_topic' | 'disable_empty_topic' | 'empty_topic_only';

/** What is shown of earlier versions of messages: all, only where they were moved from, or nothing. */
export type HistoryVisibility = 'all' | 'moves' | 'none';

/** The organization, as stored in one item. Settings carry the names they have on the wire. */
export interface Realm {
  readonly uuid: string;
  readonly name: string;
  readonly description: string;
  /** The subdomain on the wire (`sender_realm_str`); empty for the home organization. */
  readonly stringId: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly deactivated: boolean;
  /** Grows with each change of the settings, so that a decision made on them can be held to it. */
  readonly version: number;
  /** The user that speaks for the service in notices. */
  readonly noticeBotId: number;
  /** Somebody has a device for push notifications: their worker must hear when there is something to tell. */
  readonly hasPushDevices?: true;
  /** The relay for push notifications refuses to serve the organization. */
  readonly pushRefused?: true;
  /** Seconds since 1970: until when the relay will serve it, where that ends. */
  readonly pushEnds?: number;
  readonly settings: RealmSettings;
}

/** Organization settings that rules read. */
export interface RealmSettings {
  readonly topics_policy: Exclude<TopicsPolicy, 'inherit' | 'empty_topic_only'>;
  readonly waiting_period_threshold: number;
  readonly enable_spectator_access: boolean;
  /** -1 for ever. */
  readonly message_retention_days: number;
  /** A private channel, or `NO_CHANNEL`. */
  readonly moderation_request_channel_id: number;
  /** A channel, or `NO_CHANNEL`. */
  readonly new_stream_announcements_stream_id: number;
  readonly owner_full_content_access: boolean;
  readonly emails_restricted_to_domains: boolean;
  readonly send_channel_events_messages: boolean;
  readonly enable_read_receipts: boolean;
  readonly presence_disabled: boolean;
  readonly name_changes_disabled: boolean;
  /** One of `videoChatProviders`. */
  readonly video_chat_provider: number;
  readonly message_edit_history_visibility_policy: HistoryVisibility;
  readonly allow_message_editing: boolean;
  /** Seconds; null for no limit. */
  readonly message_content_edit_limit_seconds: number | null;
  readonly message_content_delete_limit_seconds: number | null;
  readonly move_messages_within_stream_limit_seconds: number | null;
  readonly move_messages_between_streams_limit_seconds: number | null;
  readonly can_mention_many_users_group: GroupSetting;
  readonly direct_message_permission_group: GroupSetting;
  readonly direct_message_initiator_group: GroupSetting;
  readonly can_create_public_channel_group: GroupSetting;
  readonly can_create_private_channel_group: GroupSetting;
  readonly can_create_web_public_channel_group: GroupSetting;
  readonly can_create_bots_group: GroupSetting;
  readonly can_create_groups: GroupSetting;
  readonly can_manage_all_groups: GroupSetting;
  readonly can_add_custom_emoji_group: GroupSetting;
  readonly can_add_subscribers_group: GroupSetting;
  readonly can_set_topics_policy_group: GroupSetting;
  readonly can_delete_any_message_group: GroupSetting;
  readonly can_delete_own_message_group: GroupSetting;
  readonly can_move_messages_between_channels_group: GroupSetting;
  readonly can_move_messages_between_topics_group: GroupSetting;
  readonly can_resolve_topics_group: GroupSetting;
  readonly can_access_all_users_group: GroupSetting;
}

/** How a setting that names a channel names none. */
export const NO_CHANNEL = -1;

/** The settings of a new organization (wire facts 3.7, 3.8, 4.3; the rest as the reference sets them). */
export const defaultRealmSettings: RealmSettings = {
  topics_policy: 'allow_empty_topic',
  waiting_period_threshold: 0,
  enable_spectator_access: false,
  message_retention_days: -1,
  moderation_request_channel_id: NO_CHANNEL,
  new_stream_announcements_stream_id: NO_CHANNEL,
  owner_full_content_access: false,
  emails_restricted_to_domains: false,
  send_channel_events_messages: true,
  enable_read_receipts: false,
  presence_disabled: false,
  name_changes_disabled: false,
  video_chat_provider: 0,
  message_edit_history_visibility_policy: 'all',
  allow_message_editing: true,
  message_content_edit_limit_seconds: 600,
  message_content_delete_limit_seconds: 600,
  move_messages_within_stream_limit_seconds: 604_800,
  move_messages_between_streams_limit_seconds: 604_800,
  can_mention_many_users_group: systemGroups.administrators.id,
  direct_message_permission_group: systemGroups.everyone.id,
  direct_message_initiator_group: systemGroups.everyone.id,
  can_create_public_channel_group: systemGroups.members.id,
  can_create_private_channel_group: systemGroups.members.id,
  can_create_web_public_channel_group: systemGroups.owners.id,
  can_create_bots_group: systemGroups.members.id,
  can_create_groups: systemGroups.members.id,
  can_manage_all_groups: systemGroups.owners.id,
  can_add_custom_emoji_group: systemGroups.members.id,
  can_add_subscribers_group: systemGroups.members.id,
  can_set_topics_policy_group: systemGroups.members.id,
  can_delete_any_message_group: systemGroups.administrators.id,
  can_delete_own_message_group: systemGroups.everyone.id,
  can_move_messages_between_channels_group: systemGroups.members.id,
  can_move_messages_between_topics_group: systemGroups.everyone.id,
  can_resolve_topics_group: systemGroups.everyone.id,
  can_access_all_users_group: systemGroups.everyone.id,
};

/** The organization with a value for every setting, also for those that came later than it did. */
export const withAllSettings = (stored: Realm): Realm => ({
  ...stored,
  settings: { ...defaultRealmSettings, ...stored.settings },
});

/** What is worked out from other settings and told beside them, under its name in events. */
export const derivedSettings = ({
  topics_policy,
  message_edit_history_visibility_policy,
  can_create_bots_group,
}: RealmSettings) => ({
  // Whoever may create bots may create incoming webhooks, and nobody else may (companion facts 4.9).
  can_create_write_only_bots_group: can_create_bots_group,
  mandatory_topics: topics_policy === 'disable_empty_topic',
  allow_edit_history: message_edit_history_visibility_policy !== 'none',
});

/** How the empty topic is shown to clients that do not know it (wire facts 3.4). */
export const EMPTY_TOPIC_NAME = 'general chat';
/** Feature level that this service speaks. */
export const FEATURE_LEVEL = 500;
/** Version of the reference whose API this is, as clients compare it. */
export const REFERENCE_VERSION = '12.0';

/** Limits of the wire (specification 8, wire facts 2), in code points unless said otherwise. */
export const limits = {
  message: 10_000,
  topic: 60,
  channelName: 60,
  channelDescription: 1_024,
  folderName: 60,
  folderDescription: 1_024,
  groupName: 100,
  /** The wire facts know none; this keeps a group and its event well within what the table holds. */
  groupDescription: 10_000,
  fullName: 100,
  organizationName: 40,
  organizationDescription: 1_000,
  email: 254,
  profileFieldName: 40,
  profileFieldHint: 80,
  /** Fields that may be in the summary of profiles. */
  profileSummary: 2,
  /** People whom one request that subscribes them lets tell of it. */
  newSubscriptionMessages: 250,
  /** Requests a minute for an account, unless the operator sets others (companion facts 5). */
  requests: 200,
  /** At or below this many people, anyone may notify all of them. */
  wildcard: 15,
} as const;

const lift = <T>(as: (older: T) => object): Versions['lifts'][number] => as as (item: Item) => Item;

/**
 * The kinds of items that have had more than one version, and how older ones become newer. A setting or an attribute
 * that is added makes a new version; what reads the item then finds it in every one. infra/UPGRADES.md tells how.
 */
export const versions: readonly Versions[] = [
  // Older functions read the second one as well: it has more settings, and none that means something else.
  { kind: 'realm', lifts: [lift<Realm>(withAllSettings)], writes: 2 },
];

export const itemVersions = new ItemVersions(versions);

/** A provider of video calls as clients know it; they find its number by its name in `/register`. */
interface VideoChatProvider {
  readonly id: number;
  readonly name: string;
}

/** The providers that the operator has set up, by their names on the wire, and that there may be none. */
export const videoChatProviders = ({
  ZOOM_CLIENT_ID,
  WEBEX_CLIENT_ID,
}: Environment): Readonly<Record<string, VideoChatProvider>> => ({
  disabled: { id: 0, name: 'None' },
  ...(ZOOM_CLIENT_ID && { zoom: { id: 3, name: 'Zoom' } }),
  ...(WEBEX_CLIENT_ID && { webex: { id: 8, name: 'Webex' } }),
});

/** Whether the operator set up a relay at all. */
export const hasRelay = (environment: Environment): boolean => Boolean(environment.PUSH_RELAY_URL);

/** What clients are told of the organization (wire facts 12.2), under the names of the `realm` event. */
export const pushSettings = (
  { pushRefused, pushEnds }: Pick<Realm, 'pushRefused' | 'pushEnds'>,
  environment: Environment,
) => ({
  push_notifications_enabled: hasRelay(environment) && pushRefused !== true,
  push_notifications_enabled_end_timestamp: hasRelay(environment) ? (pushEnds ?? null) : null,
});

/** Whether the operator lets organizations have web-public channels (specification 4.2): yes, unless said otherwise. */
export const isWebPublicEnabled = ({ WEB_PUBLIC_STREAMS_ENABLED: value }: Environment): boolean =>
  value !== 'false';
