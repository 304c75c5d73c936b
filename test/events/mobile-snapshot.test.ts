import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { handler as register } from '../../functions/events/register.ts';
import { handler as updatePresence } from '../../functions/presence/update.ts';
import { sendTo } from '../support/event-queue.ts';
import { givenBot, givenChannel, givenGroup } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';

const ids = z.array(z.int());
const groupSetting = z.union([z.int(), z.object({ direct_members: ids, direct_subgroups: ids })]);

const user = z.object({
  user_id: z.int(),
  email: z.string(),
  delivery_email: z.nullable(z.string()),
  full_name: z.string(),
  date_joined: z.string(),
  is_bot: z.boolean(),
  is_active: z.optional(z.boolean()),
  role: z.int(),
  timezone: z.string(),
  avatar_version: z.int(),
});

const channel = z.object({
  stream_id: z.int(),
  name: z.string(),
  description: z.string(),
  rendered_description: z.string(),
  date_created: z.int(),
  first_message_id: z.nullable(z.int()),
  invite_only: z.boolean(),
  is_web_public: z.boolean(),
  is_archived: z.boolean(),
  history_public_to_subscribers: z.boolean(),
  message_retention_days: z.nullable(z.int()),
  stream_post_policy: z.int(),
  can_add_subscribers_group: groupSetting,
  can_send_message_group: groupSetting,
  can_subscribe_group: groupSetting,
});

const subscription = z.extend(channel, {
  desktop_notifications: z.nullable(z.boolean()),
  email_notifications: z.nullable(z.boolean()),
  wildcard_mentions_notify: z.nullable(z.boolean()),
  push_notifications: z.nullable(z.boolean()),
  audible_notifications: z.nullable(z.boolean()),
  pin_to_top: z.boolean(),
  is_muted: z.boolean(),
  color: z.string(),
});

/** What the mobile client takes for granted in the reply of its registration: it fails where one of these is missing. */
const snapshot = z.object({
  queue_id: z.string(),
  last_event_id: z.int(),
  zulip_feature_level: z.literal(500),
  zulip_version: z.string(),
  zulip_merge_base: z.string(),
  alert_words: z.array(z.string()),
  custom_profile_fields: z.array(
    z.object({ id: z.int(), type: z.int(), order: z.int(), name: z.string(), hint: z.string() }),
  ),
  max_topic_length: z.int(),
  max_stream_name_length: z.int(),
  server_presence_ping_interval_seconds: z.int(),
  server_presence_offline_threshold_seconds: z.int(),
  server_typing_started_expiry_period_milliseconds: z.literal(45_000),
  server_typing_stopped_wait_period_milliseconds: z.literal(12_000),
  server_typing_started_wait_period_milliseconds: z.literal(30_000),
  muted_users: z.array(z.object({ id: z.int(), timestamp: z.int() })),
  presences: z.record(z.string(), z.object({ active_timestamp: z.int(), idle_timestamp: z.int() })),
  realm_emoji: z.record(z.string(), z.object({ name: z.string() })),
  realm_user_groups: z.array(
    z.object({
      id: z.int(),
      name: z.string(),
      description: z.string(),
      is_system_group: z.boolean(),
      deactivated: z.boolean(),
      members: ids,
      direct_subgroup_ids: ids,
    }),
  ),
  recent_private_conversations: z.array(z.object({ max_message_id: z.int(), user_ids: ids })),
  saved_snippets: z.array(z.object({ id: z.int(), title: z.string(), content: z.string() })),
  subscriptions: z.array(subscription),
  streams: z.array(channel),
  unread_msgs: z.object({
    count: z.int(),
    pms: z.array(z.object({ other_user_id: z.int(), unread_message_ids: ids })),
    streams: z.array(z.object({ topic: z.string(), stream_id: z.int(), unread_message_ids: ids })),
    huddles: z.array(z.object({ user_ids_string: z.string(), unread_message_ids: ids })),
    mentions: ids,
    old_unreads_missing: z.boolean(),
  }),
  user_status: z.record(z.string(), z.object({})),
  user_settings: z.object({
    twenty_four_hour_time: z.nullable(z.boolean()),
    display_emoji_reaction_users: z.boolean(),
    emojiset: z.string(),
    presence_enabled: z.boolean(),
    receives_typing_notifications: z.boolean(),
  }),
  user_topics: z.array(z.object({ stream_id: z.int(), topic_name: z.string(), visibility_policy: z.int() })),
  realm_name: z.string(),
  realm_icon_url: z.string(),
  realm_wildcard_mention_policy: z.union([1, 2, 3, 5, 6, 7].map((policy) => z.literal(policy))),
  realm_mandatory_topics: z.boolean(),
  realm_waiting_period_threshold: z.int(),
  realm_allow_message_editing: z.boolean(),
  realm_message_content_edit_limit_seconds: z.nullable(z.int()),
  realm_message_content_delete_limit_seconds: z.nullable(z.int()),
  realm_enable_read_receipts: z.boolean(),
  realm_presence_disabled: z.boolean(),
  realm_can_delete_any_message_group: groupSetting,
  realm_can_delete_own_message_group: groupSetting,
  realm_default_external_accounts: z.record(
    z.string(),
    z.object({ name: z.string(), text: z.string(), hint: z.string(), url_pattern: z.string() }),
  ),
  max_file_upload_size_mib: z.int(),
  server_emoji_data_url: z.string().check(z.minLength(1)),
  realm_empty_topic_display_name: z.string(),
  realm_users: z.array(user),
  realm_non_active_users: z.array(user),
  cross_realm_bots: z.array(user),
});

it('the state of registration has every field that the mobile client needs, with its type (companion facts 1.13, 4.9)', async () => {
  const realm = await newRealm();
  const { member, admin } = realm.people;
  await givenBot(realm, member);
  await givenGroup(realm, { name: 'ants' });
  await givenChannel(realm, { isPrivate: true }, [member]);
  await sendTo(realm, admin, realm.channels.general, 'unread');
  await realm.call(updatePresence, admin, { status: 'active' });
  // What it sends: no event types, which are all of them.
  const { body } = await realm.call(register, member, {
    apply_markdown: true,
    client_gravatar: false,
    slim_presence: true,
    client_capabilities: {
      notification_settings_null: true,
      bulk_message_deletion: true,
      user_avatar_url_field_optional: false,
      stream_typing_notifications: true,
      user_settings_object: true,
      include_deactivated_groups: true,
      empty_topic_name: true,
    },
  });
  const { success, error } = snapshot.safeParse(body);
  expect(error?.issues).toBeUndefined();
  expect(success).toBe(true);
  expect(Object.keys(body.presences)).toContain(String(admin.userId));
  expect(body.realm_users.length).toBeGreaterThan(3);
  expect(body.unread_msgs.count).toBe(1);
});
