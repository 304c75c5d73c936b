import * as z from 'zod/mini';
import { endpoint, reads, writes } from './endpoint.ts';
import { boolean, json, optional, pathId, text } from './parameter.ts';

/** The fields of a folder object in replies and events (see `shared/model/channel/folder.ts`). */
const folderFields = {
  id: z.int(),
  name: z.string(),
  description: z.string(),
  rendered_description: z.string(),
  date_created: z.int(),
  creator_id: z.nullable(z.int()),
  is_archived: z.boolean(),
  order: z.int(),
} as const;

export const createChannelFolder = endpoint({
  id: 'channelFolders.create',
  method: 'POST',
  path: '/api/v1/channel_folders/create',
  source: 'specification 4.3, wire facts 5',
  description: 'Creates a channel folder.',
  access: 'administrator',
  parameters: {
    name: text('The name: unique among folders that are not archived, whatever its case.'),
    description: text('What the folder is for, in Markdown; may be empty.'),
  },
  reply: z.object({ channel_folder_id: z.int() }),
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});

export const listChannelFolders = endpoint({
  id: 'channelFolders.list',
  method: 'GET',
  path: '/api/v1/channel_folders',
  source: 'https://zulip.com/api/get-channel-folders, wire facts 5',
  description: 'Lists the channel folders in their order.',
  access: 'user',
  parameters: {
    include_archived: optional(boolean('Whether archived folders are listed too; no if absent.')),
  },
  reply: z.object({ channel_folders: z.array(z.object(folderFields)) }),
  errors: [],
  needs: { table: reads },
});

export const reorderChannelFolders = endpoint({
  id: 'channelFolders.reorder',
  method: 'PATCH',
  path: '/api/v1/channel_folders',
  source: 'https://zulip.com/api/patch-channel-folders, wire facts 5',
  description: 'Sorts the channel folders.',
  access: 'administrator',
  parameters: { order: json('The IDs of all folders, archived ones too, each once.', z.array(z.int())) },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});

export const updateChannelFolder = endpoint({
  id: 'channelFolders.update',
  method: 'PATCH',
  path: '/api/v1/channel_folders/{channel_folder_id}',
  source: 'https://zulip.com/api/update-channel-folder, wire facts 5',
  description: 'Changes a channel folder: all that is asked for, or nothing.',
  access: 'administrator',
  parameters: {
    channel_folder_id: pathId('The ID of the folder.'),
    name: optional(text('The new name.')),
    description: optional(text('The new description, in Markdown.')),
    is_archived: optional(boolean('Whether the folder is archived; only one without channels can be.')),
  },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: [...writes, 'DeleteItem'] },
});
