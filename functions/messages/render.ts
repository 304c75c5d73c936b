import {
  loadReferences,
  loadWithLinkifiers,
  referenceLookupKeys,
  resolveReferences,
  withoutHiddenUsers,
} from '../../shared/domain/mention/references.ts';
import { renderMessage } from '../../shared/endpoints/messages.ts';
import { extractReferences } from '../../shared/markdown/references.ts';
import { render } from '../../shared/markdown/render.ts';
import { hiddenUsers } from '../../shared/model/subscription/user-access.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(renderMessage, {
  parse: ({ content }) => ({ content, names: extractReferences(content) }),
  keys: ({ names }) => referenceLookupKeys(names),
  load: ({ outside, resolved, input, userId }) => loadReferences(outside, resolved, input.names, userId),
  run: async ({ input, outside, caller }, loaded) => {
    const hidden = await hiddenUsers(outside, caller, [...loaded.users.values()]);
    const named = await loadWithLinkifiers(outside, caller, withoutHiddenUsers(loaded, hidden));
    return { rendered: render(input.content, resolveReferences(caller.standing, named)).html };
  },
});
