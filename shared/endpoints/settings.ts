import * as z from 'zod/mini';
import { endpoint, writes } from './endpoint.ts';
import { boolean, json, optional, type Parameter, text, word } from './parameter.ts';

/** A parameter for each of these names. */
const each = <N extends string, P>(names: readonly N[], parameter: (name: N) => P): Record<N, P> =>
  Object.fromEntries(names.map((name) => [name, parameter(name)])) as Record<N, P>;

/** Settings that are on or off. */
const flags = each(
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
  optional(json(description, z.int().check(z.minimum(from), z.maximum(to))));

/** When topics change their policy by themselves (wire facts 3.10). */
const automatically = (what: string) =>
  range(`${what} topics: 1 the caller takes part in, 2 they send to, 3 they start, 4 never.`, 1, 4);

/** Settings that are a number. */
const numbers = {
  automatically_follow_topics_policy: automatically('Follows'),
  automatically_unmute_topics_in_muted_streams_policy: automatically('In muted channels, unmutes'),
  color_scheme: range('1 automatic, 2 dark, 3 light.', 1, 3),
  demote_inactive_streams: range('Hides inactive channels: 1 automatically, 2 always, 3 never.', 1, 3),
  desktop_icon_count_display: range(
    'What is counted: 1 all that is unread, 2 direct messages, mentions and followed topics, 3 the first two, 4 nothing.',
    1,
    4,
  ),
  email_notifications_batching_period_seconds: range('Seconds for which mail waits for more.', 1, 604_800),
  realm_name_in_email_notifications_policy: range('1 automatic, 2 always, 3 never.', 1, 3),
  user_list_style: range('1 compact, 2 with status, 3 with picture and status.', 1, 3),
  web_channel_default_view: range(
    'Where a channel opens: 1 its top topic, 2 its feed, 3 its topics, 4 its top unread topic.',
    1,
    4,
  ),
  web_font_size_px: range('Size of letters, pixels.', 6, 72),
  web_line_height_percent: range('Height of lines, percent.', 80, 400),
  web_mark_read_on_scroll_policy: range('1 always, 2 in conversations only, 3 never.', 1, 3),
  web_stream_unreads_count_display_policy: range('1 all channels, 2 unmuted ones, 3 none.', 1, 3),
};

/** Settings that are one of a few words, or another text. */
const words = {
  default_language: optional(
    text('The code of the language, such as `de`.', z.string().check(z.maxLength(35))),
  ),
  emojiset: optional(word('How emoji look.', ['google', 'twitter', 'text'])),
  notification_sound: optional(word('The sound of notifications.', ['zulip', 'none'])),
  resolved_topic_notice_auto_read_policy: optional(
    word('Which notices of resolved topics are read at once.', ['always', 'except_followed', 'never']),
  ),
  timezone: optional(text('The IANA name of the time zone.')),
  web_animate_image_previews: optional(word('When pictures move.', ['always', 'on_hover', 'never'])),
  web_home_view: optional(word('What the web client opens with.', ['inbox', 'recent', 'all_messages'])),
};

const refused = (why: string): Parameter<string, false> => optional(text(`Always refused: ${why}.`));

export const updateSettings = endpoint({
  id: 'settings.update',
  method: 'PATCH',
  path: '/api/v1/settings',
  source: 'https://zulip.com/api/update-settings, wire facts 3.10, 10',
  description: "Changes the caller's own settings: all that is asked for, or nothing.",
  access: 'human',
  parameters: {
    full_name: optional(text('The full name.')),
    ...flags,
    ...numbers,
    ...words,
    twenty_four_hour_time: optional(
      json('Whether hours are counted to 24; null follows the language.', z.nullable(z.boolean())),
    ),
    email_address_visibility: range('Who sees the address: everyone (1), which is all there is here.', 1, 5),
    email: refused('addresses stay as they are'),
    new_password: refused('there are no passwords'),
    target_users: refused('everybody sets their own'),
  },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: [...writes, 'DeleteItem'] },
});
