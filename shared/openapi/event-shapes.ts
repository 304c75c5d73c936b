import * as z from 'zod/mini';
import {
  attachmentFields,
  botDefaults,
  channelFields,
  defaultGroupFields,
  draftFields,
  emojiFields,
  exportFields,
  folderFields,
  forEachSetting,
  linkifierFields,
  messageFields,
  navigationViewFields,
  playgroundFields,
  profileFieldFields,
  reminderFields,
  savedSnippetFields,
  scheduledMessageFields,
  subscriptionFields,
  userFields,
  userGroupFields,
  userGroupPermissions,
} from '../endpoints/objects.ts';
import { groupSettingSchema } from '../model/permission/permission.ts';

type Fields = Readonly<Record<string, z.ZodMiniType>>;

/** An event type without operations. */
const event = <T extends string>(type: T, fields: Fields = {}): Readonly<Record<string, z.ZodMiniType>> => ({
  [type]: z.object({ id: z.int(), type: z.literal(type), ...fields }),
});

/** An event type with operations. */
const events = (
  type: string,
  operations: Readonly<Record<string, Fields>>,
): Readonly<Record<string, z.ZodMiniType>> =>
  Object.fromEntries(
    Object.entries(operations).map(([op, fields]) => [
      `${type}/${op}`,
      z.object({ id: z.int(), type: z.literal(type), op: z.literal(op), ...fields }),
    ]),
  );

const ids = z.array(z.int());
const scalar = z.union([z.boolean(), z.int(), z.string(), z.null()]);

const person = z.object({ user_id: z.int(), email: z.string() });
const typing: Fields = {
  message_type: z.enum(['direct', 'stream']),
  sender: person,
  recipients: z.optional(z.array(person)),
  stream_id: z.optional(z.int()),
  topic: z.optional(z.string()),
};

const typingEdit: Fields = {
  sender_id: z.int(),
  message_id: z.int(),
  recipient: z.union([
    z.object({ type: z.literal('channel'), channel_id: z.int(), topic: z.string() }),
    z.object({ type: z.literal('direct'), user_ids: ids }),
  ]),
};

/** Flags are beside the message, which is the same for all its readers. */
const { flags, ...messageWithoutFlags } = messageFields;

const reaction: Fields = {
  user_id: z.int(),
  message_id: z.int(),
  emoji_name: z.string(),
  emoji_code: z.string(),
  reaction_type: z.string(),
};

const marked: Fields = {
  operation: z.enum(['add', 'remove']),
  flag: z.string(),
  messages: ids,
  all: z.boolean(),
};

/** The fields of a message that a client needs to count it as unread again. */
const unread = z.union([
  z.object({
    type: z.literal('stream'),
    stream_id: z.int(),
    topic: z.string(),
    mentioned: z.optional(z.boolean()),
  }),
  z.object({ type: z.literal('private'), user_ids: ids, mentioned: z.optional(z.boolean()) }),
]);

const messageEvents = {
  ...event('message', {
    flags,
    message: z.object(messageWithoutFlags),
    local_message_id: z.optional(z.string()),
  }),
  ...event('update_message', {
    user_id: z.int(),
    edit_timestamp: z.int(),
    message_id: z.int(),
    message_ids: ids,
    rendering_only: z.boolean(),
    flags,
    stream_id: z.optional(z.int()),
    stream_name: z.optional(z.string()),
    orig_content: z.optional(z.string()),
    orig_rendered_content: z.optional(z.string()),
    content: z.optional(z.string()),
    rendered_content: z.optional(z.string()),
    is_me_message: z.optional(z.boolean()),
    propagate_mode: z.optional(z.enum(['change_one', 'change_later', 'change_all'])),
    orig_subject: z.optional(z.string()),
    subject: z.optional(z.string()),
    topic_links: z.optional(messageFields.topic_links),
    new_stream_id: z.optional(z.int()),
  }),
  ...event('delete_message', {
    message_type: z.enum(['stream', 'private']),
    message_id: z.optional(z.int()),
    message_ids: z.optional(ids),
    stream_id: z.optional(z.int()),
    topic: z.optional(z.string()),
  }),
  ...events('reaction', { add: reaction, remove: reaction }),
  ...event('submessage', {
    msg_type: z.literal('widget'),
    message_id: z.int(),
    submessage_id: z.int(),
    sender_id: z.int(),
    content: z.string(),
  }),
  ...events('update_message_flags', {
    add: marked,
    remove: { ...marked, message_details: z.optional(z.record(z.string(), unread)) },
  }),
  ...events('typing', { start: typing, stop: typing }),
  ...events('typing_edit_message', { start: typingEdit, stop: typingEdit }),
  ...event('muted_topics', { muted_topics: z.array(z.tuple([z.string(), z.string(), z.int()])) }),
  ...event('user_topic', {
    stream_id: z.int(),
    topic_name: z.string(),
    last_updated: z.int(),
    visibility_policy: z.int(),
  }),
};

const channelEvents = {
  ...events('stream', {
    create: { streams: z.array(z.object({ ...channelFields, subscribers: z.optional(ids) })) },
    update: {
      stream_id: z.int(),
      name: z.string(),
      property: z.string(),
      value: z.union([scalar, groupSettingSchema]),
      history_public_to_subscribers: z.optional(z.boolean()),
      is_web_public: z.optional(z.boolean()),
      rendered_description: z.optional(z.string()),
    },
    delete: { stream_ids: ids, streams: z.array(z.object({ stream_id: z.int() })) },
  }),
  ...events('subscription', {
    add: {
      subscriptions: z.array(
        z.object({ ...channelFields, ...subscriptionFields, subscribers: z.optional(ids) }),
      ),
    },
    remove: { subscriptions: z.array(z.object({ stream_id: z.int(), name: z.string() })) },
    update: { stream_id: z.int(), property: z.string(), value: scalar },
    peer_add: { stream_ids: ids, user_ids: ids },
    peer_remove: { stream_ids: ids, user_ids: ids },
  }),
  ...event('default_streams', { default_streams: ids }),
  ...event('default_stream_groups', { default_stream_groups: z.array(z.object(defaultGroupFields)) }),
  ...events('channel_folder', {
    add: { channel_folder: z.object(folderFields) },
    update: {
      channel_folder_id: z.int(),
      data: z.object({
        name: z.optional(z.string()),
        description: z.optional(z.string()),
        rendered_description: z.optional(z.string()),
        is_archived: z.optional(z.boolean()),
      }),
    },
    reorder: { order: ids },
  }),
};

const members: Fields = { group_id: z.int(), user_ids: ids };
const subgroups: Fields = { group_id: z.int(), direct_subgroup_ids: ids };

const groupEvents = events('user_group', {
  add: { group: z.object(userGroupFields) },
  update: {
    group_id: z.int(),
    data: z.object({
      name: z.optional(z.string()),
      description: z.optional(z.string()),
      deactivated: z.optional(z.boolean()),
      ...forEachSetting(userGroupPermissions, () => z.optional(groupSettingSchema)),
    }),
  },
  add_members: members,
  remove_members: members,
  add_subgroups: subgroups,
  remove_subgroups: subgroups,
  remove: { group_id: z.int() },
});

const attachment: Fields = { attachment: z.object(attachmentFields), upload_space_used: z.int() };

const peopleEvents = {
  ...events('realm_user', {
    add: { person: z.object(userFields) },
    update: {
      person: z.object({
        user_id: z.int(),
        email: z.optional(z.string()),
        full_name: z.optional(z.string()),
        role: z.optional(z.int()),
        is_active: z.optional(z.boolean()),
        timezone: z.optional(z.string()),
        avatar_source: z.optional(z.enum(['G', 'U'])),
        avatar_url: z.optional(z.string()),
        avatar_url_medium: z.optional(z.string()),
        avatar_version: z.optional(z.int()),
        bot_owner_id: z.optional(z.int()),
        custom_profile_field: z.optional(
          z.object({
            id: z.int(),
            value: z.nullable(z.string()),
            rendered_value: z.optional(z.string()),
          }),
        ),
      }),
    },
  }),
  ...events('realm_bot', {
    add: {
      bot: z.object({ user_id: z.int(), ...botDefaults, services: z.array(z.unknown()) }),
    },
  }),
  ...event('presence', {
    presences: z.optional(
      z.record(z.string(), z.object({ active_timestamp: z.int(), idle_timestamp: z.int() })),
    ),
    user_id: z.optional(z.int()),
    email: z.optional(z.string()),
    server_timestamp: z.optional(z.number()),
    presence: z.optional(
      z.object({
        website: z.object({
          client: z.string(),
          status: z.string(),
          timestamp: z.int(),
          pushable: z.boolean(),
        }),
      }),
    ),
  }),
  ...event('user_status', {
    user_id: z.int(),
    status_text: z.optional(z.string()),
    emoji_name: z.optional(z.string()),
    emoji_code: z.optional(z.string()),
    reaction_type: z.optional(z.string()),
  }),
  ...events('user_settings', {
    update: { property: z.string(), value: scalar, language_name: z.optional(z.string()) },
  }),
  ...events('scheduled_messages', {
    add: { scheduled_messages: z.array(z.object(scheduledMessageFields)) },
    update: { scheduled_message: z.object(scheduledMessageFields) },
    remove: { scheduled_message_id: z.int() },
  }),
  ...events('reminders', {
    add: { reminders: z.array(z.object(reminderFields)) },
    remove: { reminder_id: z.int() },
  }),
  ...event('alert_words', { alert_words: z.array(z.string()) }),
  ...event('muted_users', { muted_users: z.array(z.object({ id: z.int(), timestamp: z.int() })) }),
  ...events('drafts', {
    add: { drafts: z.array(z.object(draftFields)) },
    update: { draft: z.object(draftFields) },
    remove: { draft_id: z.int() },
  }),
  ...events('navigation_view', {
    add: { navigation_view: z.object(navigationViewFields) },
    update: {
      fragment: z.string(),
      data: z.object({ is_pinned: z.optional(z.boolean()), name: z.optional(z.string()) }),
    },
    remove: { fragment: z.string() },
  }),
  ...events('saved_snippets', {
    add: { saved_snippet: z.object(savedSnippetFields) },
    update: { saved_snippet: z.object(savedSnippetFields) },
    remove: { saved_snippet_id: z.int() },
  }),
  ...events('attachment', {
    add: attachment,
    update: attachment,
    remove: { attachment: z.object({ id: z.int() }), upload_space_used: z.int() },
  }),
  ...event('has_zoom_token', { value: z.boolean() }),
  ...event('has_webex_token', { value: z.boolean() }),
  ...events('device', {
    add: { device_id: z.int() },
    remove: { device_id: z.int() },
    update: {
      device_id: z.int(),
      push_key_id: z.optional(z.nullable(z.int())),
      push_token_id: z.optional(z.nullable(z.string())),
      pending_push_token_id: z.optional(z.nullable(z.string())),
      push_token_last_updated_timestamp: z.optional(z.nullable(z.int())),
      push_registration_error_code: z.optional(z.nullable(z.string())),
    },
  }),
};

const emoji = z.object(emojiFields);
const domain = z.object({ domain: z.string(), allow_subdomains: z.boolean() });

const organizationEvents = {
  ...events('realm', {
    update: { property: z.string(), value: z.union([scalar, groupSettingSchema]) },
    update_dict: {
      property: z.enum(['default', 'icon', 'logo', 'night_logo']),
      data: z.record(z.string(), z.union([scalar, groupSettingSchema])),
    },
  }),
  ...events('realm_domains', {
    add: { realm_domain: domain },
    change: { realm_domain: domain },
    remove: { domain: z.string() },
  }),
  ...events('realm_emoji', {
    update: { realm_emoji: z.record(z.string(), emoji) },
    add: { emoji },
    update_one: { emoji_id: z.string(), data: z.object({ deactivated: z.boolean() }) },
  }),
  ...events('realm_user_settings_defaults', { update: { property: z.string(), value: scalar } }),
  ...event('realm_linkifiers', { realm_linkifiers: z.array(z.object(linkifierFields)) }),
  ...event('realm_playgrounds', { realm_playgrounds: z.array(z.object(playgroundFields)) }),
  ...event('custom_profile_fields', {
    fields: z.array(
      z.object({
        ...profileFieldFields,
        display_in_profile_summary: z.optional(z.literal(true)),
        use_for_user_matching: z.optional(z.literal(true)),
      }),
    ),
  }),
  ...event('invites_changed'),
  ...event('realm_export', { exports: z.array(z.object(exportFields)) }),
  ...event('realm_export_consent', { user_id: z.int(), consented: z.boolean() }),
};

/** The shape of every event, by its type and operation (wire facts 14.3). */
export const eventShapes: Readonly<Record<string, z.ZodMiniType>> = {
  ...messageEvents,
  ...channelEvents,
  ...groupEvents,
  ...peopleEvents,
  ...organizationEvents,
  ...event('heartbeat'),
};

/** The key of an event in `eventShapes`. */
export const eventKind = ({ type, op }: { readonly type: string; readonly op?: unknown }): string =>
  typeof op === 'string' ? `${type}/${op}` : type;
