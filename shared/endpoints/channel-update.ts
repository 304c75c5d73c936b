import * as z from 'zod/mini';
import { groupSettingChangeSchema } from '../model/permission/permission.ts';
import { endpoint, writes } from './endpoint.ts';
import { boolean, integer, json, optional, pathId, text } from './parameter.ts';

const channelId = pathId('The ID of the channel.');

const group = (description: string) =>
  optional(
    json(
      `${description} \`new\` is the new value, \`old\` the expected current one.`,
      groupSettingChangeSchema,
    ),
  );

export const updateChannel = endpoint({
  id: 'channels.update',
  method: 'PATCH',
  path: '/api/v1/streams/{stream_id}',
  source: 'specification 4.2, wire facts 4',
  description: 'Changes a channel: all that is asked for, or nothing.',
  access: 'user',
  parameters: {
    stream_id: channelId,
    description: optional(text('What the channel is for, in Markdown, in one line.')),
    new_name: optional(text('The new name: unique whatever its case, among archived channels too.')),
    is_private: optional(
      boolean('Whether only chosen people can read it. True protects its history, unless that is said too.'),
    ),
    is_web_public: optional(boolean('Whether it is shown to everybody on the internet.')),
    history_public_to_subscribers: optional(
      boolean('Whether new subscribers can read what was sent before; only a private channel can say no.'),
    ),
    is_default_stream: optional(
      boolean('Whether new users are subscribed to it. Only organization administrators may say so.'),
    ),
    message_retention_days: optional(
      text('Days; `unlimited`; or `realm_default`. Only organization owners may say so.'),
    ),
    is_archived: optional(boolean('False takes the channel out of the archive; true changes nothing.')),
    folder_id: optional(
      json('The folder it moves to; null takes it out of its folder.', z.nullable(z.int())),
    ),
    topics_policy: optional(
      text('`inherit`, `allow_empty_topic`, `disable_empty_topic` or `empty_topic_only`.'),
    ),
    can_add_subscribers_group: group('Who may add subscribers.'),
    can_administer_channel_group: group('Who may administer the channel.'),
    can_create_topic_group: group('Who may start topics.'),
    can_delete_any_message_group: group('Who may delete any message.'),
    can_delete_own_message_group: group('Who may delete their own messages.'),
    can_move_messages_out_of_channel_group: group('Who may move messages out of the channel.'),
    can_move_messages_within_channel_group: group('Who may move messages within the channel.'),
    can_remove_subscribers_group: group('Who may remove subscribers.'),
    can_resolve_topics_group: group('Who may resolve topics.'),
    can_send_message_group: group('Who may post.'),
    can_subscribe_group: group('Who may subscribe themselves.'),
  },
  reply: z.object({}),
  errors: [
    'BAD_REQUEST',
    'CANNOT_ADMINISTER_CHANNEL',
    'EXPECTATION_MISMATCH',
    'REQUEST_VARIABLE_INVALID',
    'UNAUTHORIZED_PRINCIPAL',
  ],
  needs: {
    table: [...writes, 'DeleteItem', 'ConditionCheckItem'],
    settings: ['WEB_PUBLIC_STREAMS_ENABLED'],
  },
});

export const archiveChannel = endpoint({
  id: 'channels.archive',
  method: 'DELETE',
  path: '/api/v1/streams/{stream_id}',
  source: 'https://zulip.com/api/archive-stream, wire facts 4.6, 4.7',
  description: 'Archives a channel: it stays readable, and nobody can post in it.',
  access: 'user',
  parameters: { stream_id: channelId },
  reply: z.object({}),
  errors: ['BAD_REQUEST', 'CANNOT_ADMINISTER_CHANNEL'],
  needs: { table: [...writes, 'ConditionCheckItem'] },
});

export const addDefaultChannel = endpoint({
  id: 'channels.addDefault',
  method: 'POST',
  path: '/api/v1/default_streams',
  source: 'specification 4.2, wire facts 4.3, 4.4, 4.6',
  description: 'Makes a channel one of those to which new users are subscribed.',
  access: 'administrator',
  parameters: { stream_id: integer('The ID of the channel.') },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});

export const removeDefaultChannel = endpoint({
  id: 'channels.removeDefault',
  method: 'DELETE',
  path: '/api/v1/default_streams',
  source: 'specification 4.2, wire facts 4.3, 4.4, 4.6',
  description: 'Takes a channel from those to which new users are subscribed.',
  access: 'administrator',
  parameters: { stream_id: integer('The ID of the channel.') },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});
