import * as z from 'zod/mini';
import { endpoint, HASHING_MEMORY, writes } from './endpoint.ts';
import { forEach } from './objects.ts';
import { boolean, integer, json, optional, type Parameter, text, word } from './parameter.ts';

/** Boolean settings. */
const flags = forEach(
  [
    'allow_private_data_export',
    'automatically_follow_topics_where_mentioned',
    'display_emoji_reaction_users',
    'enable_desktop_notifications',
    'enable_digest_emails',
    'enable_drafts_synchronization',
    'enable_followed_topic_audible_notifications',
    'enable_followed_topic_desktop_notifications',
    'enable_followed_topic_email_notifications',
    'enable_followed_topic_push_notifications',
    'enable_followed_topic_wildcard_mentions_notify',
    'enable_login_emails',
    'enable_marketing_emails',
    'enable_offline_email_notifications',
    'enable_offline_push_notifications',
    'enable_online_push_notifications',
    'enable_sounds',
    'enable_stream_audible_notifications',
    'enable_stream_desktop_notifications',
    'enable_stream_email_notifications',
    'enable_stream_push_notifications',
    'enter_sends',
    'fluid_layout_width',
    'hide_ai_features',
    'high_contrast_mode',
    'left_side_userlist',
    'message_content_in_email_notifications',
    'pm_content_in_desktop_notifications',
    'presence_enabled',
    'receives_typing_notifications',
    'send_private_typing_notifications',
    'send_read_receipts',
    'send_stream_typing_notifications',
    'starred_message_counts',
    'translate_emoticons',
    'web_escape_navigates_to_home_view',
    'web_inbox_show_channel_folders',
    'web_left_sidebar_show_channel_folders',
    'web_left_sidebar_unreads_count_summary',
    'web_navigate_to_sent_message',
    'web_suggest_update_timezone',
    'wildcard_mentions_notify',
  ],
  (name) => optional(boolean(`Whether \`${name}\` is on.`)),
);

const range = (description: string, from: number, to: number): Parameter<number, false> =>
  optional(integer(description, from, to));

/** When the policy of a topic changes automatically (wire facts 3.10). */
const automatically = (what: string) =>
  range(
    `${what} topics automatically: 1 on any participation, 2 on sending to them, 3 on starting them, 4 never.`,
    1,
    4,
  );

/** Numeric settings. */
const numbers = {
  automatically_follow_topics_policy: automatically('Follow'),
  automatically_unmute_topics_in_muted_streams_policy: automatically('In muted channels, unmute'),
  color_scheme: range('1 automatic, 2 dark, 3 light.', 1, 3),
  demote_inactive_streams: range('Hide inactive channels: 1 automatically, 2 always, 3 never.', 1, 3),
  desktop_icon_count_display: range(
    'Unread messages to count: 1 all, 2 direct messages, mentions and followed topics, 3 direct messages and mentions, 4 none.',
    1,
    4,
  ),
  email_notifications_batching_period_seconds: range(
    'Seconds to collect notifications for one email.',
    1,
    604_800,
  ),
  realm_name_in_email_notifications_policy: range('1 automatic, 2 always, 3 never.', 1, 3),
  user_list_style: range('1 compact, 2 with status, 3 with avatar and status.', 1, 3),
  web_channel_default_view: range(
    'The view that a channel opens: 1 top topic, 2 channel feed, 3 list of topics, 4 top unread topic.',
    1,
    4,
  ),
  web_font_size_px: range('Font size in pixels.', 6, 72),
  web_line_height_percent: range('Line height in percent.', 80, 400),
  web_mark_read_on_scroll_policy: range('1 always, 2 only in conversation views, 3 never.', 1, 3),
  web_stream_unreads_count_display_policy: range('1 all channels, 2 unmuted ones, 3 none.', 1, 3),
};

/** Text settings. */
const words = {
  default_language: optional(
    text('The code of the language, such as `de`.', z.string().check(z.maxLength(35))),
  ),
  emojiset: optional(word('The style of emoji.', ['google', 'twitter', 'text'])),
  notification_sound: optional(word('The sound of notifications.', ['zulip', 'none'])),
  resolved_topic_notice_auto_read_policy: optional(
    word('Which notices of resolved topics are marked as read automatically.', [
      'always',
      'except_followed',
      'never',
    ]),
  ),
  timezone: optional(text('The IANA name of the time zone.')),
  web_animate_image_previews: optional(
    word('When image previews are animated.', ['always', 'on_hover', 'never']),
  ),
  web_home_view: optional(word('The home view of the web client.', ['inbox', 'recent', 'all_messages'])),
};

const twentyFourHours = optional(
  json('Whether to show times in 24-hour format; null follows the language.', z.nullable(z.boolean())),
);
const emailVisibility = range('Who can see the email address. Only 1 (everyone) is supported.', 1, 5);

const refused = (why: string): Parameter<string, false> => optional(text(`Not supported: ${why}.`));

export const updateSettings = endpoint({
  id: 'settings.update',
  route: 'PATCH /api/v1/settings',
  source: 'https://zulip.com/api/update-settings, wire facts 3.10, 10',
  description: "Updates the caller's own settings; all changes are made, or none.",
  access: 'human',
  parameters: {
    full_name: optional(text('The full name.')),
    ...flags,
    ...numbers,
    ...words,
    twenty_four_hour_time: twentyFourHours,
    email_address_visibility: emailVisibility,
    email: refused('email addresses cannot be changed'),
    old_password: optional(
      text('The current password. Required with `new_password`, unless there is none yet.'),
    ),
    new_password: optional(text('The new password.')),
    target_users: refused('users can only change their own settings'),
  },
  errors: ['RATE_LIMIT_HIT'],
  needs: { table: [...writes, 'DeleteItem'] },
  memory: HASHING_MEMORY,
});

/** Settings that are for their owner alone, and the language, which is the organization's own (companion facts 4.3). */
const {
  allow_private_data_export: _consent,
  enable_login_emails: _logins,
  enable_marketing_emails: _marketing,
  ...newUserFlags
} = flags;
const { default_language: _language, timezone: _timezone, ...newUserWords } = words;

export const updateNewUserSettings = endpoint({
  id: 'realm.updateNewUserSettings',
  route: 'PATCH /api/v1/realm/user_settings_defaults',
  source: 'companion facts 4.3',
  description: 'Updates the settings that new accounts get; all changes are made, or none.',
  access: 'administrator',
  parameters: {
    ...newUserFlags,
    ...numbers,
    ...newUserWords,
    twenty_four_hour_time: twentyFourHours,
    email_address_visibility: emailVisibility,
  },
  needs: { table: writes },
});
