import * as z from 'zod/mini';
import { endpoint, writes } from './endpoint.ts';
import { json, optional, pathId, text, word } from './parameter.ts';

const source = 'companion facts 4.8';

const groupId = pathId('The ID of the group.');

const channelNames = (description: string) => json(description, z.array(z.string()));

export const createDefaultChannelGroup = endpoint({
  id: 'defaultChannelGroups.create',
  route: 'POST /api/v1/default_stream_groups/create',
  source,
  description: 'Creates a default channel group: channels that fit together, under a name.',
  access: 'administrator',
  parameters: {
    group_name: text('The name, unique among these groups, ignoring case; at most 60 characters.'),
    description: text('The description, at most 1,024 characters; may be empty.'),
    stream_names: channelNames(
      'The names of the channels. None is private, archived or a default channel; at most 50.',
    ),
  },
  reply: z.object({ id: z.int() }),
  needs: { table: writes },
});

export const updateDefaultChannelGroup = endpoint({
  id: 'defaultChannelGroups.update',
  route: 'PATCH /api/v1/default_stream_groups/{group_id}',
  source,
  description: 'Renames a default channel group, or changes its description.',
  access: 'administrator',
  parameters: {
    group_id: groupId,
    new_group_name: optional(text('The new name.')),
    new_description: optional(text('The new description.')),
  },
  needs: { table: writes },
});

export const updateChannelsOfDefaultChannelGroup = endpoint({
  id: 'defaultChannelGroups.updateChannels',
  route: 'PATCH /api/v1/default_stream_groups/{group_id}/streams',
  source,
  description: 'Adds channels to a default channel group, or removes them from it; all of them, or none.',
  access: 'administrator',
  parameters: {
    group_id: groupId,
    op: word('What to do with the channels.', ['add', 'remove']),
    stream_names: channelNames('The names of the channels.'),
  },
  needs: { table: writes },
});

export const deleteDefaultChannelGroup = endpoint({
  id: 'defaultChannelGroups.delete',
  route: 'DELETE /api/v1/default_stream_groups/{group_id}',
  source,
  description: 'Deletes a default channel group. Its channels stay.',
  access: 'administrator',
  parameters: { group_id: groupId },
  needs: { table: writes },
});
