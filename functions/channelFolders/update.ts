import { checkFolderEdit, doEditFolder } from '../../shared/domain/channel-edit/folder.ts';
import {
  type LoadedReferences,
  loadReferences,
  referenceLookupKeys,
  resolveReferences,
} from '../../shared/domain/mention/references.ts';
import { updateChannelFolder } from '../../shared/endpoints/channel-folders.ts';
import { loadQuotaUse } from '../../shared/kernel/quota.ts';
import { extractReferences } from '../../shared/markdown/references.ts';
import { renderDescription } from '../../shared/markdown/render.ts';
import { type Folders, loadFolders } from '../../shared/model/channel/folder.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(updateChannelFolder, {
  parse: (input) => ({ ...input, names: extractReferences(input.description ?? '') }),
  keys: ({ names }) => referenceLookupKeys(names),
  load: async ({ input, realm, userId, resolved, outside }): Promise<[Folders, LoadedReferences, number]> =>
    Promise.all([
      loadFolders(outside.table, realm),
      loadReferences(outside, resolved, input.names, userId),
      loadQuotaUse(outside.table, realm, 'channels'),
    ]),
  reserve: 1,
  run: async ({ input, caller, realm, commit }, [folders, named, channelBytes]) => {
    const { channel_folder_id: folderId, name, description, is_archived: isArchived } = input;
    const edit = { name, description, isArchived };
    const decided = checkFolderEdit(folderId, edit, folders, channelBytes, (text) =>
      renderDescription(text, resolveReferences(caller.standing, named)),
    );
    const change = doEditFolder(realm, decided);
    return change.entries.length === 0 ? {} : commit(change.entries.length, () => change);
  },
});
