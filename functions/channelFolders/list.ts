import { folderObjects, loadFolders } from '../../shared/domain/channel/folder.ts';
import { listChannelFolders } from '../../shared/endpoints/channel-folders.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listChannelFolders, {
  load: ({ realm, outside }) => loadFolders(outside.table, realm),
  run: ({ input }, folders) => ({ channel_folders: folderObjects(folders, input.include_archived === true) }),
});
