import type { Role } from '../permission/permission.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    user: User;
  }
}

/** A user whom another one muted (companion facts 3.2). */
export interface Mute {
  readonly userId: number;
  /** Seconds since 1970. */
  readonly at: number;
  /** Set when they were unmuted: their messages up to this id stay read. */
  readonly until?: number;
}

/** A person or a bot, as stored. `object.ts` makes what clients see of it. */
export interface User {
  readonly userId: number;
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  readonly isActive: boolean;
  readonly isBot: boolean;
  /** On the wire: 1 default, 2 incoming webhook. Absent for the system bot. */
  readonly botType?: 1 | 2;
  /** Owner of a bot. */
  readonly ownerId?: number;
  /** Ids of the bots that the user owns, including deactivated ones. */
  readonly bots?: ReadonlySet<number>;
  /**
   * Counts the active bots and subscriptions added to the user or their bots. A deactivation checks that it is
   * unchanged.
   */
  readonly arrivals?: number;
  /** ISO 8601. */
  readonly dateJoined: string;
  /** The path of an uploaded picture; absent for one of Gravatar. */
  readonly avatarUrl?: string;
  readonly avatarVersion: number;
  readonly timezone: string;
  /**
   * Whom the user muted. It stands here because every request that shows messages reads this item: a list of its own would
   * take one more read of everybody.
   */
  readonly mutes?: readonly Mute[];
  /** The words that the user wants to be alerted to, as they spelled them. Here for the same reason. */
  readonly alertWords?: readonly string[];
}

/** Whether it is the bot that sends the notices of the service: it has no owner and no usable key. */
export const isSystemBot = ({ isBot, botType }: Pick<User, 'isBot' | 'botType'>): boolean =>
  isBot && botType === undefined;

/**
 * Personal settings under their wire names. The stored item holds only what the user has set. The time zone is
 * visible to everyone, so the user item has it.
 */
export interface UserSettings {
  readonly automatically_follow_topics_policy: number;
  readonly automatically_unmute_topics_in_muted_streams_policy: number;
  readonly automatically_follow_topics_where_mentioned: boolean;
  readonly allow_private_data_export: boolean;
  readonly presence_enabled: boolean;
  readonly send_read_receipts: boolean;
  readonly [setting: string]: unknown;
}

/** The settings of a new account (wire facts 3.10; the rest as the reference sets them). */
export const defaultUserSettings: UserSettings = {
  allow_private_data_export: false,
  automatically_follow_topics_policy: 3,
  automatically_follow_topics_where_mentioned: true,
  automatically_unmute_topics_in_muted_streams_policy: 2,
  available_notification_sounds: ['zulip'],
  color_scheme: 1,
  default_language: 'en',
  demote_inactive_streams: 1,
  desktop_icon_count_display: 1,
  display_emoji_reaction_users: true,
  email_address_visibility: 1,
  email_notifications_batching_period_seconds: 120,
  emojiset: 'google',
  emojiset_choices: [
    { key: 'google', text: 'Google' },
    { key: 'twitter', text: 'Twitter' },
    { key: 'text', text: 'Plain text' },
  ],
  enable_desktop_notifications: true,
  enable_digest_emails: false,
  enable_drafts_synchronization: true,
  enable_followed_topic_audible_notifications: true,
  enable_followed_topic_desktop_notifications: true,
  enable_followed_topic_email_notifications: true,
  enable_followed_topic_push_notifications: true,
  enable_followed_topic_wildcard_mentions_notify: true,
  enable_login_emails: false,
  enable_marketing_emails: false,
  enable_offline_email_notifications: false,
  enable_offline_push_notifications: true,
  // Off, unlike in the reference: users who are online get push notifications only if they opt in.
  enable_online_push_notifications: false,
  enable_sounds: true,
  enable_stream_audible_notifications: false,
  enable_stream_desktop_notifications: false,
  enable_stream_email_notifications: false,
  enable_stream_push_notifications: false,
  enter_sends: false,
  fluid_layout_width: false,
  hide_ai_features: false,
  high_contrast_mode: false,
  left_side_userlist: false,
  message_content_in_email_notifications: true,
  notification_sound: 'zulip',
  pm_content_in_desktop_notifications: true,
  presence_enabled: true,
  realm_name_in_email_notifications_policy: 1,
  receives_typing_notifications: true,
  resolved_topic_notice_auto_read_policy: 'except_followed',
  send_private_typing_notifications: true,
  send_read_receipts: true,
  send_stream_typing_notifications: true,
  starred_message_counts: true,
  timezone: '',
  translate_emoticons: false,
  twenty_four_hour_time: false,
  user_list_style: 3,
  web_animate_image_previews: 'on_hover',
  web_channel_default_view: 1,
  web_escape_navigates_to_home_view: true,
  web_font_size_px: 16,
  web_home_view: 'inbox',
  web_inbox_show_channel_folders: true,
  web_left_sidebar_show_channel_folders: true,
  web_left_sidebar_unreads_count_summary: true,
  web_line_height_percent: 140,
  web_mark_read_on_scroll_policy: 1,
  web_navigate_to_sent_message: true,
  web_stream_unreads_count_display_policy: 2,
  web_suggest_update_timezone: true,
  wildcard_mentions_notify: true,
};

/** The stored settings of a user over the defaults. */
export const settingsOf = (stored: Readonly<Record<string, unknown>> | undefined): UserSettings => {
  const { pk, sk, changed, ...own } = stored ?? {};
  return { ...defaultUserSettings, ...own };
};

/** What decides the flags that a reader's messages have. */
export type MessageReader = Pick<User, 'userId' | 'mutes' | 'alertWords'>;

/** The users whom a user has muted now, in the order in which they did. */
export const mutedBy = ({ mutes = [] }: MessageReader): readonly Mute[] =>
  mutes.filter(({ until }) => until === undefined);

/**
 * Whether a message is read because its sender is muted, or was until after it. Nothing is stored for such messages: it is
 * decided whenever they are read.
 */
export const isReadByMute = (
  { mutes = [] }: MessageReader,
  { id, senderId }: { readonly id: number; readonly senderId: number },
): boolean => mutes.some(({ userId, until }) => userId === senderId && (until === undefined || id <= until));
