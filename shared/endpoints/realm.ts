import * as z from 'zod/mini';
import { endpoint, writes } from './endpoint.ts';
import { boolean, groupChange, integer, json, optional, text } from './parameter.ts';

const flag = (description: string) => optional(boolean(description));
const limit = (description: string) => optional(text(`${description} Seconds, or \`unlimited\`.`));
const channel = (description: string) =>
  optional(integer(`${description} The ID of a channel; -1 for none.`));

/** The longest waiting period in days. Its end must still be a valid date. */
const MAX_DAYS = 100_000;

export const updateRealm = endpoint({
  id: 'realm.update',
  route: 'PATCH /api/v1/realm',
  source:
    'https://zulip.com/api/roles-and-permissions, specification 2.2, 4.2, 4.8, wire facts 2, 3.7, 3.8, 4.3',
  description:
    'Updates settings of the organization; all changes are made, or none. Some require the owner role.',
  access: 'administrator',
  parameters: {
    name: optional(text('The name of the organization.')),
    description: optional(text('The description of the organization, in Markdown.')),
    topics_policy: optional(text('`allow_empty_topic` or `disable_empty_topic`.')),
    waiting_period_threshold: optional(
      integer('Days after joining until a member is a full member. Owners only.', 0, MAX_DAYS),
    ),
    enable_spectator_access: flag('Whether web-public channels are allowed.'),
    message_retention_days: optional(
      text(
        'How long messages are kept in channels without a setting of their own: days, or `unlimited`. Owners only.',
      ),
    ),
    moderation_request_channel_id: channel('The private channel for requests to moderators.'),
    new_stream_announcements_stream_id: channel('The channel in which new channels are announced.'),
    owner_full_content_access: flag('Whether owners can export all private messages. Owners only.'),
    emails_restricted_to_domains: flag(
      'Whether new users need an address in one of the allowed domains. Owners only.',
    ),
    invite_required: flag(
      'Whether new people need an invitation. Without it, who has an address in an allowed domain may join. Owners only.',
    ),
    send_channel_events_messages: flag('Whether changes of a channel are announced in it.'),
    enable_read_receipts: flag('Whether users can see who has read a message.'),
    inline_image_preview: flag('Whether messages show the uploaded images that they link to.'),
    presence_disabled: flag('Whether it is hidden who is online.'),
    name_changes_disabled: flag('Whether only administrators can change names.'),
    avatar_changes_disabled: flag('Whether only administrators can change avatars.'),
    video_chat_provider: optional(
      integer('The ID of a video call provider that the server supports; 0 for none.'),
    ),
    message_edit_history_visibility_policy: optional(
      text('Which earlier versions of messages are visible: `all`, `moves` or `none`.'),
    ),
    allow_message_editing: flag('Whether users can edit their messages.'),
    message_content_edit_limit_seconds: limit('How long users can edit their messages.'),
    message_content_delete_limit_seconds: limit('How long users can delete their messages.'),
    move_messages_within_stream_limit_seconds: limit('How long messages can be moved to another topic.'),
    move_messages_between_streams_limit_seconds: limit('How long messages can be moved to another channel.'),
    can_mention_many_users_group: groupChange('Who may notify many users at once.'),
    direct_message_permission_group: groupChange(
      'At least one participant of every direct conversation must be in this group.',
    ),
    direct_message_initiator_group: groupChange('Who may start direct conversations.'),
    can_create_public_channel_group: groupChange('Who may create public channels.'),
    can_create_private_channel_group: groupChange('Who may create private channels.'),
    can_create_web_public_channel_group: groupChange('Who may create web-public channels.'),
    can_create_bots_group: groupChange('Who may create bots.'),
    can_invite_users_group: groupChange('Who may invite people by email.'),
    create_multiuse_invite_group: groupChange('Who may make invitation links for many people.'),
    can_create_groups: groupChange('Who may create user groups. Owners only.'),
    can_manage_all_groups: groupChange('Who may manage all user groups. Owners only.'),
    can_add_custom_emoji_group: groupChange('Who may add custom emoji.'),
    can_add_subscribers_group: groupChange('Who may add subscribers to channels.'),
    can_set_topics_policy_group: groupChange('Who may choose the topics policy of channels.'),
    can_delete_any_message_group: groupChange('Who may delete any message.'),
    can_delete_own_message_group: groupChange('Who may delete their own messages.'),
    can_move_messages_between_channels_group: groupChange('Who may move messages to other channels.'),
    can_move_messages_between_topics_group: groupChange('Who may move messages to other topics.'),
    can_resolve_topics_group: groupChange('Who may resolve topics.'),
    can_access_all_users_group: groupChange(
      'Who may see all other users: everyone, or everyone except guests.',
    ),
  },
  errors: ['EXPECTATION_MISMATCH', 'REQUEST_VARIABLE_INVALID', 'SYSTEM_GROUP_REQUIRED'],
  needs: {
    table: [...writes, 'DeleteItem', 'ConditionCheckItem'],
    settings: ['ZOOM_CLIENT_ID', 'WEBEX_CLIENT_ID', 'BIG_BLUE_BUTTON_URL'],
  },
});

export const deactivateRealm = endpoint({
  id: 'realm.deactivate',
  route: 'POST /api/v1/realm/deactivate',
  source: 'companion facts 4.8',
  description:
    'Takes the organization out of service: every request is refused until the operator puts it back. Nothing is deleted.',
  access: 'owner',
  parameters: {
    deletion_delay_days: optional(
      json(
        'Days until all data is deleted. Only null is taken, which means never.',
        z.nullable(z.int().check(z.minimum(0))),
      ),
    ),
  },
  needs: { table: writes },
});
