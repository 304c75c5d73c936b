import {
  checkFolderDescription,
  checkFolderName,
  doCreateFolder,
} from '../../shared/domain/channel-edit/folder.ts';
import {
  type LoadedReferences,
  loadReferences,
  referenceLookupKeys,
  resolveReferences,
} from '../../shared/domain/mention/references.ts';
import { createChannelFolder } from '../../shared/endpoints/channel-folders.ts';
import { checkQuota, loadQuotaUse } from '../../shared/kernel/quota.ts';
import { extractReferences } from '../../shared/markdown/references.ts';
import { renderDescription } from '../../shared/markdown/render.ts';
import { type Folders, folderBytes, loadFolders } from '../../shared/model/channel/folder.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(createChannelFolder, {
  parse: (input) => ({ ...input, names: extractReferences(input.description) }),
  keys: ({ names }) => referenceLookupKeys(names),
  load: async ({ input, realm, userId, resolved, outside }): Promise<[Folders, LoadedReferences, number]> =>
    Promise.all([
      loadFolders(outside.table, realm),
      loadReferences(outside, resolved, input.names, userId),
      loadQuotaUse(outside.table, realm, 'channels'),
    ]),
  reserve: 1,
  run: ({ input, caller, realm, userId, outside, commit }, [folders, named, channelBytes]) => {
    const name = checkFolderName(input.name, folders);
    const description = checkFolderDescription(input.description);
    const folder = {
      name,
      description,
      renderedDescription: renderDescription(description, resolveReferences(caller.standing, named)),
      dateCreated: Math.floor(outside.now() / 1000),
      creatorId: userId,
      isArchived: false,
      channels: 0,
      version: 1,
    };
    checkQuota('channels', channelBytes, folderBytes(folder));
    return commit(1, ([folderId]) => doCreateFolder(realm, { ...folder, folderId: folderId as number }));
  },
});
