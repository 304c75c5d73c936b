import { fetchableFiles, linkedTokens, loadLinkedFiles } from '../../shared/domain/files/link.ts';
import { shownImages } from '../../shared/domain/files/preview.ts';
import {
  loadForWriter,
  loadReferences,
  referenceLookupKeys,
  resolveReferences,
} from '../../shared/domain/mention/references.ts';
import { renderMessage } from '../../shared/endpoints/messages.ts';
import { extractReferences } from '../../shared/markdown/references.ts';
import { render } from '../../shared/markdown/render.ts';
import { hiddenUsers } from '../../shared/model/subscription/user-access.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(renderMessage, {
  parse: ({ content }) => ({
    content,
    names: extractReferences(content),
    files: linkedTokens(content),
  }),
  keys: ({ names }) => referenceLookupKeys(names),
  load: ({ outside, resolved, input, realm, userId, baseUrl }) =>
    Promise.all([
      loadReferences(outside, resolved, input.names, userId, baseUrl),
      loadLinkedFiles(outside, realm, { userId, baseUrl }, input.files),
    ]),
  run: async ({ input, outside, caller }, [loaded, linked]) => {
    const images = shownImages(caller, linked, await fetchableFiles(caller.standing, linked));
    const hidden = await hiddenUsers(outside, caller, [...loaded.users.values()]);
    const named = await loadForWriter(outside, caller, loaded, hidden, images);
    return { rendered: render(input.content, resolveReferences(caller.standing, named)).html };
  },
});
