import { checkSynchronization, draftObject, loadDrafts } from '../../shared/domain/drafts/draft.ts';
import { listDrafts } from '../../shared/endpoints/drafts.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listDrafts, {
  load: async ({ outside: { table }, realm, userId }) => {
    const [settings, drafts] = await Promise.all([
      table.get('settings', { realm, userId }),
      loadDrafts(table, realm, userId),
    ]);
    return { settings, drafts };
  },
  run: (_, { settings, drafts }) => {
    checkSynchronization(settings);
    return { count: drafts.length, drafts: drafts.map(draftObject) };
  },
});
