import {
  accessSnippet,
  checkSnippetContent,
  checkTitle,
  doChangeSnippet,
  loadSnippet,
} from '../../shared/domain/snippets/snippet.ts';
import { updateSavedSnippet } from '../../shared/endpoints/saved-snippets.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(updateSavedSnippet, {
  parse: ({ saved_snippet_id: snippetId, title, content }) => ({
    snippetId,
    change: {
      ...(title !== undefined && { title: checkTitle(title) }),
      ...(content !== undefined && { content: checkSnippetContent(content) }),
    },
  }),
  load: ({ input, outside, realm, userId }) => loadSnippet(outside.table, realm, userId, input.snippetId),
  reserve: 1,
  run: async ({ input: { change }, realm, userId, commit }, stored) => {
    const snippet = accessSnippet(stored);
    if (Object.keys(change).length > 0)
      await commit(1, () => doChangeSnippet(realm, userId, snippet, change));
    return {};
  },
});
