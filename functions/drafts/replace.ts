import {
  accessDraft,
  accessDraftPlaces,
  doReplaceDraft,
  loadDraft,
  loadDraftPlaces,
  parseDraft,
} from '../../shared/domain/drafts/draft.ts';
import { replaceDraft } from '../../shared/endpoints/drafts.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(replaceDraft, {
  parse: ({ draft_id: draftId, draft }) => ({ draftId, draft: parseDraft(draft) }),
  load: async ({ input: { draftId, draft }, outside: { table }, realm, userId }) => {
    const [places, stored] = await Promise.all([
      loadDraftPlaces(table, realm, userId, [draft]),
      loadDraft(table, realm, userId, draftId),
    ]);
    return { places, stored };
  },
  reserve: 1,
  run: async ({ input: { draft }, outside, caller, commit }, { places, stored }) => {
    const { draftId } = accessDraft(stored);
    await accessDraftPlaces(outside, caller, [draft], places);
    await commit(1, () => doReplaceDraft(caller, draftId, draft, outside.now()));
    return {};
  },
});
