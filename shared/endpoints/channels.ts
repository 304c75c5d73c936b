import * as z from 'zod/mini';
import { endpoint, reads, writes } from './endpoint.ts';
import { channelFields, channelPermissions, forEachSetting } from './objects.ts';
import { aliased, boolean, groupChange, integer, json, optional, pathId, text } from './parameter.ts';

const channelId = pathId('The ID of the channel.');

export const listChannels = endpoint({
  id: 'channels.list',
  route: 'GET /api/v1/streams',
  source: 'https://zulip.com/api/get-streams',
  description: 'Lists the channels that the caller can see.',
  access: 'user',
  parameters: {
    include_public: optional(
      boolean('Whether to include public channels, unless the caller is a guest; default true.'),
    ),
    include_web_public: optional(boolean('Whether to include web-public channels; default false.')),
    include_subscribed: optional(
      boolean('Whether to include channels that the caller is subscribed to; default true.'),
    ),
    exclude_archived: optional(boolean('Whether to exclude archived channels; default true.')),
    include_all: aliased(
      optional(boolean('Whether to include all channels that the caller can see; default false.')),
      'include_all_active',
    ),
    include_default: optional(boolean('Whether each channel has `is_default`; default false.')),
    include_owner_subscribed: optional(
      boolean('For a bot, whether to include channels that its owner is subscribed to; default false.'),
    ),
    include_can_access_content: optional(
      boolean('Whether to include all channels that the caller can read; default false.'),
    ),
  },
  reply: z.object({
    streams: z.array(z.object({ ...channelFields, is_default: z.optional(z.boolean()) })),
  }),
});

export const getChannelId = endpoint({
  id: 'channels.getId',
  route: 'GET /api/v1/get_stream_id',
  source: 'https://zulip.com/api/get-stream-id',
  description: 'Gets the ID of a channel by its name.',
  access: 'user',
  parameters: { stream: text('The name of the channel.') },
  reply: z.object({ stream_id: z.int() }),
});

export const getChannel = endpoint({
  id: 'channels.get',
  route: 'GET /api/v1/streams/{stream_id}',
  source: 'https://zulip.com/api/get-stream-by-id',
  description: 'Gets a channel.',
  access: 'user',
  parameters: { stream_id: channelId },
  reply: z.object({ stream: z.object(channelFields) }),
});

export const listChannelMembers = endpoint({
  id: 'channels.listMembers',
  route: 'GET /api/v1/streams/{stream_id}/members',
  source: 'https://zulip.com/api/get-subscribers',
  description: 'Lists the subscribers of a channel.',
  access: 'user',
  parameters: { stream_id: channelId },
  reply: z.object({ subscribers: z.array(z.int()) }),
});

export const updateChannel = endpoint({
  id: 'channels.update',
  route: 'PATCH /api/v1/streams/{stream_id}',
  source: 'specification 4.2, wire facts 4',
  description: 'Updates a channel; all changes are made, or none.',
  access: 'user',
  parameters: {
    stream_id: channelId,
    description: optional(text('The new description, one line of Markdown.')),
    new_name: optional(text('The new name, unique among all channels (archived ones too), ignoring case.')),
    is_private: optional(
      boolean(
        'Whether the channel is private. True also protects its history, unless `history_public_to_subscribers` is sent too.',
      ),
    ),
    is_web_public: optional(boolean('Whether everybody on the internet can read it.')),
    history_public_to_subscribers: optional(
      boolean('Whether new subscribers can read older messages. Only a private channel can have false.'),
    ),
    is_default_stream: optional(
      boolean('Whether new users are subscribed to it. Only organization administrators may set it.'),
    ),
    message_retention_days: optional(
      text('A number of days, `unlimited` or `realm_default`. Only organization owners may set it.'),
    ),
    is_archived: optional(boolean('False unarchives the channel; true changes nothing.')),
    folder_id: optional(
      json('The ID of its new folder; null removes it from its folder.', z.nullable(z.int())),
    ),
    topics_policy: optional(
      text('`inherit`, `allow_empty_topic`, `disable_empty_topic` or `empty_topic_only`.'),
    ),
    ...forEachSetting(channelPermissions, groupChange),
  },
  errors: [
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
  route: 'DELETE /api/v1/streams/{stream_id}',
  source: 'https://zulip.com/api/archive-stream, wire facts 4.6, 4.7',
  description: 'Archives a channel; it stays readable, but nobody can post in it.',
  access: 'user',
  parameters: { stream_id: channelId },
  errors: ['CANNOT_ADMINISTER_CHANNEL'],
  needs: { table: [...writes, 'ConditionCheckItem'] },
});

export const addDefaultChannel = endpoint({
  id: 'channels.addDefault',
  route: 'POST /api/v1/default_streams',
  source: 'specification 4.2, wire facts 4.3, 4.4, 4.6',
  description: 'Adds a channel to the default channels, to which new users are subscribed.',
  access: 'administrator',
  parameters: { stream_id: integer('The ID of the channel.') },
  needs: { table: writes },
});

export const removeDefaultChannel = endpoint({
  id: 'channels.removeDefault',
  route: 'DELETE /api/v1/default_streams',
  source: 'specification 4.2, wire facts 4.3, 4.4, 4.6',
  description: 'Removes a channel from the default channels.',
  access: 'administrator',
  parameters: { stream_id: integer('The ID of the channel.') },
  needs: { table: writes },
});

export const getChannelEmailAddress = endpoint({
  id: 'channels.getEmailAddress',
  route: 'GET /api/v1/streams/{stream_id}/email_address',
  source: 'specification 4.7, wire facts 9',
  description:
    'Gets the email address at which the channel accepts mail from the caller; empty if the service accepts no mail.',
  access: 'user',
  parameters: {
    stream_id: pathId('The ID of the channel.'),
    sender_id: optional(
      integer('The sender of the messages: the caller or one of their bots. Default: the service itself.'),
    ),
  },
  reply: z.object({ email: z.string() }),
  needs: { table: [...reads, 'PutItem'], settings: ['MAIL_DOMAIN'] },
});
