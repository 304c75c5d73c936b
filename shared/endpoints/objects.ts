import * as z from 'zod/mini';
import { groupSettingSchema } from '../model/permission/permission.ts';

/** Makes a field for each of these names. */
export const forEach = <N extends string, F>(names: readonly N[], field: (name: N) => F): Record<N, F> =>
  Object.fromEntries(names.map((name) => [name, field(name)])) as Record<N, F>;

/** Makes a field for each of these settings, with its description. */
export const forEachSetting = <N extends string, F>(
  settings: Readonly<Record<N, string>>,
  field: (description: string) => F,
): Record<N, F> => forEach(Object.keys(settings) as N[], (name) => field(settings[name]));

/** The permissions of a channel, each a group setting. */
export const channelPermissions = {
  can_add_subscribers_group: 'Who may add subscribers.',
  can_administer_channel_group: 'Who may administer the channel.',
  can_create_topic_group: 'Who may start topics.',
  can_delete_any_message_group: 'Who may delete any message.',
  can_delete_own_message_group: 'Who may delete their own messages.',
  can_move_messages_out_of_channel_group: 'Who may move messages out of the channel.',
  can_move_messages_within_channel_group: 'Who may move messages within the channel.',
  can_remove_subscribers_group: 'Who may remove subscribers.',
  can_resolve_topics_group: 'Who may resolve topics.',
  can_send_message_group: 'Who may post.',
  can_subscribe_group: 'Who may subscribe themselves.',
} as const;

/** The permissions of a user group, each a group setting. */
export const userGroupPermissions = {
  can_add_members_group: 'Who may add members.',
  can_join_group: 'Who may join.',
  can_leave_group: 'Who may leave.',
  can_manage_group: 'Who may manage the group.',
  can_mention_group: 'Who may mention the group.',
  can_remove_members_group: 'Who may remove members.',
} as const;

/** A participant of a direct conversation. */
const person = z.object({
  id: z.int(),
  email: z.string(),
  full_name: z.string(),
  is_mirror_dummy: z.boolean(),
});

/** The fields of a message in replies (wire facts 14.4; `shared/model/message/object.ts`). */
export const messageFields = {
  id: z.int(),
  type: z.enum(['stream', 'private']),
  sender_id: z.int(),
  sender_email: z.string(),
  sender_full_name: z.string(),
  sender_realm_str: z.string(),
  avatar_url: z.nullable(z.string()),
  recipient_id: z.int(),
  timestamp: z.int(),
  client: z.string(),
  subject: z.string(),
  topic_links: z.array(z.object({ text: z.string(), url: z.string() })),
  display_recipient: z.union([z.string(), z.array(person)]),
  stream_id: z.optional(z.int()),
  content: z.string(),
  content_type: z.enum(['text/html', 'text/x-markdown']),
  is_me_message: z.boolean(),
  reactions: z.array(
    z.object({
      emoji_name: z.string(),
      emoji_code: z.string(),
      reaction_type: z.string(),
      user_id: z.int(),
    }),
  ),
  submessages: z.array(
    z.object({
      id: z.int(),
      message_id: z.int(),
      sender_id: z.int(),
      msg_type: z.string(),
      /** JSON text. */
      content: z.string(),
    }),
  ),
  last_edit_timestamp: z.optional(z.int()),
  last_moved_timestamp: z.optional(z.int()),
  edit_history: z.optional(
    z.array(
      z.object({
        user_id: z.int(),
        timestamp: z.int(),
        /** The content before the edit; of older edits only if it is short. */
        prev_content: z.optional(z.string()),
        prev_rendered_content: z.optional(z.string()),
        topic: z.optional(z.string()),
        prev_topic: z.optional(z.string()),
        stream: z.optional(z.int()),
        prev_stream: z.optional(z.int()),
      }),
    ),
  ),
  flags: z.array(z.string()),
} as const;

/** The fields of a channel object in replies and events (see `shared/model/channel/object.ts`). */
export const channelFields = {
  stream_id: z.int(),
  name: z.string(),
  description: z.string(),
  rendered_description: z.string(),
  date_created: z.int(),
  creator_id: z.nullable(z.int()),
  first_message_id: z.nullable(z.int()),
  folder_id: z.nullable(z.int()),
  history_public_to_subscribers: z.boolean(),
  invite_only: z.boolean(),
  is_web_public: z.boolean(),
  is_archived: z.boolean(),
  is_announcement_only: z.boolean(),
  is_recently_active: z.boolean(),
  message_retention_days: z.nullable(z.int()),
  stream_post_policy: z.int(),
  stream_weekly_traffic: z.nullable(z.int()),
  subscriber_count: z.int(),
  topics_policy: z.string(),
  ...forEachSetting(channelPermissions, () => groupSettingSchema),
} as const;

/** The additional fields of a subscription object (see `shared/model/subscription/object.ts`). */
export const subscriptionFields = {
  color: z.string(),
  is_muted: z.boolean(),
  in_home_view: z.boolean(),
  pin_to_top: z.boolean(),
  desktop_notifications: z.nullable(z.boolean()),
  audible_notifications: z.nullable(z.boolean()),
  push_notifications: z.nullable(z.boolean()),
  email_notifications: z.nullable(z.boolean()),
  wildcard_mentions_notify: z.nullable(z.boolean()),
} as const;

/** The fields of a user object in replies and events (see `shared/model/user/object.ts`). */
export const userFields = {
  user_id: z.int(),
  email: z.string(),
  delivery_email: z.nullable(z.string()),
  full_name: z.string(),
  role: z.int(),
  is_owner: z.boolean(),
  is_admin: z.boolean(),
  is_guest: z.boolean(),
  is_bot: z.boolean(),
  bot_type: z.nullable(z.int()),
  bot_owner_id: z.optional(z.nullable(z.int())),
  is_system_bot: z.optional(z.boolean()),
  is_active: z.boolean(),
  is_deleted: z.boolean(),
  is_imported_stub: z.boolean(),
  date_joined: z.string(),
  avatar_url: z.nullable(z.string()),
  avatar_version: z.int(),
  timezone: z.string(),
  profile_data: z.optional(z.record(z.string(), z.unknown())),
} as const;

/** The fields of a user group in replies and events (see `shared/model/group/group.ts`). */
export const userGroupFields = {
  id: z.int(),
  name: z.string(),
  description: z.string(),
  creator_id: z.nullable(z.int()),
  date_created: z.nullable(z.int()),
  members: z.array(z.int()),
  direct_subgroup_ids: z.array(z.int()),
  is_system_group: z.boolean(),
  ...forEachSetting(userGroupPermissions, () => groupSettingSchema),
  deactivated: z.boolean(),
} as const;

/** The fields of a folder object in replies and events (see `shared/model/channel/folder.ts`). */
export const folderFields = {
  id: z.int(),
  name: z.string(),
  description: z.string(),
  rendered_description: z.string(),
  date_created: z.int(),
  creator_id: z.nullable(z.int()),
  is_archived: z.boolean(),
  order: z.int(),
} as const;

/** An emoji in replies and events (specification 2.8; made by `shared/domain/emoji/emoji.ts`). */
export const emojiFields = {
  id: z.string(),
  name: z.string(),
  source_url: z.string(),
  still_url: z.nullable(z.string()),
  deactivated: z.boolean(),
  author_id: z.nullable(z.int()),
} as const;

/** The fields of a custom profile field in replies and events (see `shared/domain/profile/field.ts`). */
export const profileFieldFields = {
  id: z.int(),
  name: z.string(),
  type: z.int(),
  hint: z.string(),
  field_data: z.string(),
  order: z.int(),
  required: z.boolean(),
  editable_by_user: z.boolean(),
  display_in_profile_summary: z.optional(z.boolean()),
  use_for_user_matching: z.optional(z.boolean()),
} as const;

/** The kinds of exports (specification 2.9). */
export const exportTypes = ['public', 'full_with_consent', 'full_without_consent'] as const;

/** The fields of an export in replies and events. */
export const exportFields = {
  id: z.int(),
  acting_user_id: z.int(),
  export_time: z.number(),
  export_type: z.enum(exportTypes),
  deleted_timestamp: z.nullable(z.number()),
  failed_timestamp: z.nullable(z.number()),
  export_url: z.nullable(z.string()),
  pending: z.boolean(),
  progress: z.int(),
} as const;

/** The defaults of a bot, in replies and events. */
export const botDefaults = {
  default_sending_stream: z.nullable(z.string()),
  default_events_register_stream: z.nullable(z.string()),
  default_all_public_streams: z.boolean(),
} as const;

/** A message that is sent later (companion facts 2.3). */
export const scheduledMessageFields = {
  scheduled_message_id: z.int(),
  type: z.enum(['stream', 'private']),
  /** The channel, or the other people. */
  to: z.union([z.int(), z.array(z.int())]),
  topic: z.optional(z.string()),
  content: z.string(),
  rendered_content: z.string(),
  /** Seconds since 1970. */
  scheduled_delivery_timestamp: z.int(),
  failed: z.boolean(),
} as const;

/** A reminder of a message (companion facts 2.4). */
export const reminderFields = {
  reminder_id: z.int(),
  type: z.literal('private'),
  /** The caller. */
  to: z.array(z.int()),
  content: z.string(),
  rendered_content: z.string(),
  /** Seconds since 1970. */
  scheduled_delivery_timestamp: z.int(),
  failed: z.boolean(),
  reminder_target_message_id: z.int(),
} as const;

/** A navigation view (companion facts 2.5). */
export const navigationViewFields = {
  fragment: z.string(),
  is_pinned: z.boolean(),
  name: z.nullable(z.string()),
} as const;

/** A draft of a message (companion facts 2.1). */
export const draftFields = {
  id: z.int(),
  type: z.enum(['', 'private', 'stream']),
  to: z.array(z.int()),
  topic: z.string(),
  content: z.string(),
  /** Seconds since 1970. */
  timestamp: z.int(),
} as const;

/** A saved snippet (companion facts 2.2). */
/** An uploaded file (companion facts 1.6; `shared/domain/files/file.ts`). */
export const attachmentFields = {
  id: z.int(),
  name: z.string(),
  path_id: z.string(),
  size: z.int(),
  /** Seconds since 1970. */
  create_time: z.int(),
  message_ids: z.array(z.int()),
} as const;

export const linkifierFields = {
  id: z.int(),
  pattern: z.string(),
  url_template: z.string(),
  example_input: z.nullable(z.string()),
  reverse_template: z.nullable(z.string()),
  alternative_url_templates: z.array(z.string()),
} as const;

/** A default channel group. Private, archived and default channels are left out. */
export const defaultGroupFields = {
  id: z.int(),
  name: z.string(),
  description: z.string(),
  streams: z.array(z.int()),
} as const;

export const playgroundFields = {
  id: z.int(),
  name: z.string(),
  pygments_language: z.string(),
  url_template: z.string(),
} as const;

export const savedSnippetFields = {
  id: z.int(),
  title: z.string(),
  content: z.string(),
  /** Seconds since 1970. */
  date_created: z.int(),
} as const;
