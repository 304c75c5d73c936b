import { accessDraft, doDeleteDraft, loadDraft } from '../../shared/domain/drafts/draft.ts';
import { deleteDraft } from '../../shared/endpoints/drafts.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(deleteDraft, {
  load: ({ input, outside, realm, userId }) => loadDraft(outside.table, realm, userId, input.draft_id),
  reserve: 1,
  run: async ({ realm, userId, commit }, stored) => {
    const { draftId } = accessDraft(stored);
    await commit(1, () => doDeleteDraft(realm, userId, draftId));
    return {};
  },
});
