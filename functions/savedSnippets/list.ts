import { loadSnippets, snippetObject } from '../../shared/domain/snippets/snippet.ts';
import { listSavedSnippets } from '../../shared/endpoints/saved-snippets.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listSavedSnippets, {
  load: ({ outside, realm, userId }) => loadSnippets(outside.table, realm, userId),
  run: (_, snippets) => ({ saved_snippets: snippets.map(snippetObject) }),
});
