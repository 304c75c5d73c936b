import {
  checkRoomForSnippet,
  checkSnippetContent,
  checkTitle,
  doSaveSnippet,
  loadSnippets,
} from '../../shared/domain/snippets/snippet.ts';
import { createSavedSnippet } from '../../shared/endpoints/saved-snippets.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(createSavedSnippet, {
  parse: ({ title, content }) => ({ title: checkTitle(title), content: checkSnippetContent(content) }),
  load: ({ outside, realm, userId }) => loadSnippets(outside.table, realm, userId),
  reserve: 1,
  run: ({ input, outside, realm, userId, commit }, snippets) => {
    checkRoomForSnippet(snippets);
    return commit(1, (numbers) => doSaveSnippet(realm, userId, input, numbers, outside.now()));
  },
});
