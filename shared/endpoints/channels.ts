import * as z from 'zod/mini';
import { channelFields } from './channel-fields.ts';
import { endpoint, reads } from './endpoint.ts';
import { aliased, boolean, optional, pathId, text } from './parameter.ts';

const channelId = pathId('The ID of the channel.');

export const listChannels = endpoint({
  id: 'channels.list',
  method: 'GET',
  path: '/api/v1/streams',
  source: 'https://zulip.com/api/get-streams',
  description: 'Lists the channels that the caller may know of.',
  access: 'user',
  parameters: {
    include_public: optional(boolean('Public channels, unless the caller is a guest; yes if absent.')),
    include_web_public: optional(boolean('Web-public channels; no if absent.')),
    include_subscribed: optional(boolean('Channels that the caller is subscribed to; yes if absent.')),
    exclude_archived: optional(boolean('Leaves archived channels out; yes if absent.')),
    include_all: aliased(
      optional(boolean('All channels that the caller may know of; no if absent.')),
      'include_all_active',
    ),
    include_default: optional(boolean('Whether each channel says if it is a default one; no if absent.')),
    include_owner_subscribed: optional(
      boolean('For a bot: channels that its owner is subscribed to; no if absent.'),
    ),
    include_can_access_content: optional(boolean('All channels that the caller may read; no if absent.')),
  },
  reply: z.object({
    streams: z.array(z.object({ ...channelFields, is_default: z.optional(z.boolean()) })),
  }),
  errors: [],
  needs: { table: reads },
});

export const getChannelId = endpoint({
  id: 'channels.getId',
  method: 'GET',
  path: '/api/v1/get_stream_id',
  source: 'https://zulip.com/api/get-stream-id',
  description: 'Tells the ID of a channel.',
  access: 'user',
  parameters: { stream: text('The name of the channel.') },
  reply: z.object({ stream_id: z.int() }),
  errors: [],
  needs: { table: reads },
});

export const getChannel = endpoint({
  id: 'channels.get',
  method: 'GET',
  path: '/api/v1/streams/{stream_id}',
  source: 'https://zulip.com/api/get-stream-by-id',
  description: 'Tells about a channel.',
  access: 'user',
  parameters: { stream_id: channelId },
  reply: z.object({ stream: z.object(channelFields) }),
  errors: [],
  needs: { table: reads },
});

export const listChannelMembers = endpoint({
  id: 'channels.listMembers',
  method: 'GET',
  path: '/api/v1/streams/{stream_id}/members',
  source: 'https://zulip.com/api/get-subscribers',
  description: 'Lists the subscribers of a channel.',
  access: 'user',
  parameters: { stream_id: channelId },
  reply: z.object({ subscribers: z.array(z.int()) }),
  errors: [],
  needs: { table: reads },
});
