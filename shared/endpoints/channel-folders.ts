import * as z from 'zod/mini';
import { endpoint, writes } from './endpoint.ts';
import { folderFields } from './objects.ts';
import { boolean, ids, optional, pathId, text } from './parameter.ts';

export const createChannelFolder = endpoint({
  id: 'channelFolders.create',
  route: 'POST /api/v1/channel_folders/create',
  source: 'specification 4.3, wire facts 5',
  description: 'Creates a channel folder.',
  access: 'administrator',
  parameters: {
    name: text('The name, unique among folders that are not archived, ignoring case.'),
    description: text('The description, in Markdown; may be empty.'),
  },
  reply: z.object({ channel_folder_id: z.int() }),
  needs: { table: writes },
});

export const listChannelFolders = endpoint({
  id: 'channelFolders.list',
  route: 'GET /api/v1/channel_folders',
  source: 'https://zulip.com/api/get-channel-folders, wire facts 5',
  description: 'Lists the channel folders, in order.',
  access: 'user',
  parameters: {
    include_archived: optional(boolean('Whether to include archived folders; default false.')),
  },
  reply: z.object({ channel_folders: z.array(z.object(folderFields)) }),
});

export const reorderChannelFolders = endpoint({
  id: 'channelFolders.reorder',
  route: 'PATCH /api/v1/channel_folders',
  source: 'https://zulip.com/api/patch-channel-folders, wire facts 5',
  description: 'Reorders the channel folders.',
  access: 'administrator',
  parameters: { order: ids('The IDs of all folders, including archived ones, each once.') },
  needs: { table: writes },
});

export const updateChannelFolder = endpoint({
  id: 'channelFolders.update',
  route: 'PATCH /api/v1/channel_folders/{channel_folder_id}',
  source: 'https://zulip.com/api/update-channel-folder, wire facts 5',
  description: 'Updates a channel folder; all changes are made, or none.',
  access: 'administrator',
  parameters: {
    channel_folder_id: pathId('The ID of the folder.'),
    name: optional(text('The new name.')),
    description: optional(text('The new description, in Markdown.')),
    is_archived: optional(
      boolean('Whether the folder is archived. Only a folder without channels can be archived.'),
    ),
  },
  needs: { table: [...writes, 'DeleteItem'] },
});
