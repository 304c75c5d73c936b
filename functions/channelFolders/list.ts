import { listChannelFolders } from '../../shared/endpoints/channel-folders.ts';
import { folderObjects, loadFolders } from '../../shared/model/channel/folder.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listChannelFolders, {
  load: ({ realm, outside }) => loadFolders(outside.table, realm),
  run: ({ input }, folders) => ({ channel_folders: folderObjects(folders, input.include_archived === true) }),
});
