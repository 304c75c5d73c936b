import type { Environment } from '../../environment.ts';
import { ItemVersions, type Versions } from '../../table/stored-item.ts';
import type { Item } from '../../table/write.ts';
import {
  forGuests,
  forMembers,
  type GroupSetting,
  initialSettings,
  settingRules,
  systemGroups,
} from '../permission/permission.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    realm: Realm;
  }
}

export type TopicsPolicy = 'inherit' | 'allow_empty_topic' | 'disable_empty_topic' | 'empty_topic_only';

/** Which earlier versions of messages are visible: all, only moves, or none. */
export type HistoryVisibility = 'all' | 'moves' | 'none';

/** The organization, stored as one item. Settings have their wire names. */
export interface Realm {
  readonly uuid: string;
  readonly name: string;
  readonly description: string;
  /** The subdomain on the wire (`sender_realm_str`); empty for the default organization. */
  readonly stringId: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly deactivated: boolean;
  /** Incremented by each change of the settings, for conditional writes. */
  readonly version: number;
  /** The system bot, which sends notices. */
  readonly noticeBotId: number;
  /** At least one user has a push device, so message events must wake the push worker. */
  readonly hasPushDevices?: true;
  /** The push relay refuses this organization. */
  readonly pushRefused?: true;
  /** Seconds since 1970 until which the push relay serves this organization. */
  readonly pushEnds?: number;
  /** The version of its linkifiers; absent before the first one (`linkifiers.ts`). */
  readonly linkifiers?: number;
  /** The paths of its uploaded pictures. */
  readonly pictures?: RealmPictures;
  readonly settings: RealmSettings;
}

/** The pictures that an organization may have, under their names in events (companion facts 4.8). */
export type RealmPictureName = 'icon' | 'logo' | 'night_logo';
export type RealmPictures = { readonly [N in RealmPictureName]?: string };

const { nobody, owners, administrators, moderators, members, everyone } = systemGroups;

/** The group settings of an organization (wire facts 3.7, 3.8, 4.3; the rest as in the reference). */
export const realmGroupRules = settingRules({
  can_mention_many_users_group: { ...forGuests, initial: administrators.id },
  direct_message_permission_group: { ...forGuests, initial: everyone.id },
  direct_message_initiator_group: { ...forGuests, initial: everyone.id },
  can_create_public_channel_group: { ...forMembers, initial: members.id },
  can_create_private_channel_group: { ...forMembers, initial: members.id },
  can_create_web_public_channel_group: {
    ...forMembers,
    initial: owners.id,
    systemOnly: true,
    only: [moderators.id, administrators.id, owners.id, nobody.id],
  },
  can_create_bots_group: { ...forMembers, initial: members.id },
  can_invite_users_group: { ...forMembers, initial: members.id },
  create_multiuse_invite_group: { ...forMembers, initial: administrators.id },
  can_create_groups: { ...forMembers, initial: members.id },
  can_manage_all_groups: { ...forMembers, initial: owners.id, nobody: false },
  can_add_custom_emoji_group: { ...forMembers, initial: members.id },
  can_add_subscribers_group: { ...forMembers, initial: members.id },
  can_set_topics_policy_group: { ...forGuests, initial: members.id },
  can_delete_any_message_group: { ...forMembers, initial: administrators.id },
  can_delete_own_message_group: { ...forGuests, initial: everyone.id },
  can_move_messages_between_channels_group: { ...forMembers, initial: members.id },
  can_move_messages_between_topics_group: { ...forGuests, initial: everyone.id },
  can_resolve_topics_group: { ...forGuests, initial: everyone.id },
  can_access_all_users_group: {
    ...forGuests,
    initial: everyone.id,
    nobody: false,
    systemOnly: true,
    only: [everyone.id, members.id],
  },
});

export type RealmGroupName = keyof typeof realmGroupRules;
export const realmGroupNames = Object.keys(realmGroupRules) as RealmGroupName[];

/** Organization settings that rules read. */
export interface RealmSettings extends Readonly<Record<RealmGroupName, GroupSetting>> {
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
  /** Whether new people need an invitation to join by themselves, even with an address in an allowed domain. */
  readonly invite_required: boolean;
  readonly send_channel_events_messages: boolean;
  readonly enable_read_receipts: boolean;
  /** Whether messages show the images that they link to. */
  readonly inline_image_preview: boolean;
  readonly presence_disabled: boolean;
  readonly name_changes_disabled: boolean;
  readonly avatar_changes_disabled: boolean;
  /** One of `videoChatProviders`. */
  readonly video_chat_provider: number;
  readonly message_edit_history_visibility_policy: HistoryVisibility;
  readonly allow_message_editing: boolean;
  /** Seconds; null for no limit. */
  readonly message_content_edit_limit_seconds: number | null;
  readonly message_content_delete_limit_seconds: number | null;
  readonly move_messages_within_stream_limit_seconds: number | null;
  readonly move_messages_between_streams_limit_seconds: number | null;
}

/** The value of a channel setting without a channel. */
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
  invite_required: true,
  send_channel_events_messages: true,
  enable_read_receipts: false,
  inline_image_preview: true,
  presence_disabled: false,
  name_changes_disabled: false,
  avatar_changes_disabled: false,
  video_chat_provider: 0,
  message_edit_history_visibility_policy: 'all',
  allow_message_editing: true,
  message_content_edit_limit_seconds: 600,
  message_content_delete_limit_seconds: 600,
  move_messages_within_stream_limit_seconds: 604_800,
  move_messages_between_streams_limit_seconds: 604_800,
  ...initialSettings(realmGroupRules),
};

/** Fills in defaults for settings that are newer than the stored item. */
export const withAllSettings = (stored: Realm): Realm => ({
  ...stored,
  settings: { ...defaultRealmSettings, ...stored.settings },
});

/** Settings computed from others, under their names in events. */
export const derivedSettings = ({
  topics_policy,
  message_edit_history_visibility_policy,
  can_create_bots_group,
}: RealmSettings) => ({
  // The same people may create incoming webhooks (companion facts 4.9).
  can_create_write_only_bots_group: can_create_bots_group,
  mandatory_topics: topics_policy === 'disable_empty_topic',
  allow_edit_history: message_edit_history_visibility_policy !== 'none',
});

/** The name of the empty topic for clients that do not support it (wire facts 3.4). */
export const EMPTY_TOPIC_NAME = 'general chat';
/** The API feature level of this service. */
export const FEATURE_LEVEL = 500;
/** The server version that clients compare. */
export const REFERENCE_VERSION = '12.0';

/** Limits of the wire (specification 8, wire facts 2), in code points unless noted. */
export const limits = {
  message: 10_000,
  topic: 60,
  channelName: 60,
  channelDescription: 1_024,
  folderName: 60,
  folderDescription: 1_024,
  groupName: 100,
  /** Not in the wire facts; keeps a group and its event well below the item size. */
  groupDescription: 10_000,
  fullName: 100,
  organizationName: 40,
  organizationDescription: 1_000,
  email: 254,
  profileFieldName: 40,
  profileFieldHint: 80,
  /** Custom profile fields in the summary. */
  profileSummary: 2,
  /** Most users per request who get a "you were subscribed" message. */
  newSubscriptionMessages: 250,
  /** Requests per minute and account, unless the operator sets another limit (companion facts 5). */
  requests: 200,
  /** Up to this many people, anyone may use wildcard mentions. */
  wildcard: 15,
} as const;

const lift = <T>(as: (older: T) => object): Versions['lifts'][number] => as as (item: Item) => Item;

/**
 * Kinds of items with more than one version, and how older items are migrated when read. A new setting or attribute
 * makes a new version; see infra/UPGRADES.md.
 */
export const versions: readonly Versions[] = [
  // Each version only adds settings. Older functions refuse version 3, so the next release writes it.
  { kind: 'realm', lifts: [lift<Realm>(withAllSettings), lift<Realm>(withAllSettings)], writes: 2 },
];

export const itemVersions = new ItemVersions(versions);

/** A video call provider as clients see it: `/register` lists the ids by name. */
interface VideoChatProvider {
  readonly id: number;
  readonly name: string;
}

/** The video call providers that the operator has configured, by wire name, and none. */
export const videoChatProviders = ({
  ZOOM_CLIENT_ID,
  WEBEX_CLIENT_ID,
  BIG_BLUE_BUTTON_URL,
}: Environment): Readonly<Record<string, VideoChatProvider>> => ({
  disabled: { id: 0, name: 'None' },
  ...(ZOOM_CLIENT_ID && { zoom: { id: 3, name: 'Zoom' } }),
  ...(BIG_BLUE_BUTTON_URL && { big_blue_button: { id: 4, name: 'BigBlueButton' } }),
  ...(WEBEX_CLIENT_ID && { webex: { id: 8, name: 'Webex' } }),
});

/** Whether the operator has configured a push relay. */
export const hasRelay = (environment: Environment): boolean => Boolean(environment.PUSH_RELAY_URL);

/** Push settings of the organization (wire facts 12.2), under the names of the `realm` event. */
export const pushSettings = (
  { pushRefused, pushEnds }: Pick<Realm, 'pushRefused' | 'pushEnds'>,
  environment: Environment,
) => ({
  push_notifications_enabled: hasRelay(environment) && pushRefused !== true,
  push_notifications_enabled_end_timestamp: hasRelay(environment) ? (pushEnds ?? null) : null,
});

/** Whether the operator allows web-public channels (specification 4.2). Default: true. */
export const isWebPublicEnabled = ({ WEB_PUBLIC_STREAMS_ENABLED: value }: Environment): boolean =>
  value !== 'false';
