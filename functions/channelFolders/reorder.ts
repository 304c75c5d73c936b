import { checkFolderOrder, doSortFolders } from '../../shared/domain/channel-edit/folder.ts';
import { reorderChannelFolders } from '../../shared/endpoints/channel-folders.ts';
import { loadFolders } from '../../shared/model/channel/folder.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(reorderChannelFolders, {
  load: ({ realm, outside }) => loadFolders(outside.table, realm),
  reserve: 1,
  run: ({ input: { order }, realm, commit }, folders) => {
    checkFolderOrder(order, folders);
    return commit(1, () => doSortFolders(realm, order, folders));
  },
});
