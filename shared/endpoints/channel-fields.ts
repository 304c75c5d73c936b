import * as z from 'zod/mini';
import { groupSettingSchema } from '../model/permission/permission.ts';

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
  can_add_subscribers_group: groupSettingSchema,
  can_administer_channel_group: groupSettingSchema,
  can_create_topic_group: groupSettingSchema,
  can_delete_any_message_group: groupSettingSchema,
  can_delete_own_message_group: groupSettingSchema,
  can_move_messages_out_of_channel_group: groupSettingSchema,
  can_move_messages_within_channel_group: groupSettingSchema,
  can_remove_subscribers_group: groupSettingSchema,
  can_resolve_topics_group: groupSettingSchema,
  can_send_message_group: groupSettingSchema,
  can_subscribe_group: groupSettingSchema,
} as const;

/** The further fields of a subscription object (see `shared/model/subscription/object.ts`). */
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
