import { accessSnippet, doDeleteSnippet, loadSnippet } from '../../shared/domain/snippets/snippet.ts';
import { deleteSavedSnippet } from '../../shared/endpoints/saved-snippets.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(deleteSavedSnippet, {
  load: ({ input, outside, realm, userId }) =>
    loadSnippet(outside.table, realm, userId, input.saved_snippet_id),
  reserve: 1,
  run: async ({ realm, userId, commit }, stored) => {
    const snippet = accessSnippet(stored);
    await commit(1, () => doDeleteSnippet(realm, userId, snippet));
    return {};
  },
});
