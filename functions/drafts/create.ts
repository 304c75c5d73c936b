import {
  accessDraftPlaces,
  checkRoomForDrafts,
  doSaveDrafts,
  loadDraftCount,
  loadDraftPlaces,
  parseDraft,
} from '../../shared/domain/drafts/draft.ts';
import { createDrafts } from '../../shared/endpoints/drafts.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(createDrafts, {
  parse: ({ drafts }) => drafts.map(parseDraft),
  load: async ({ input: drafts, outside: { table }, realm, userId }) => {
    const [places, count] = await Promise.all([
      loadDraftPlaces(table, realm, userId, drafts),
      loadDraftCount(table, realm, userId),
    ]);
    return { places, count };
  },
  reserve: (drafts) => drafts.length,
  run: async ({ input: drafts, outside, caller, commit }, { places, count }) => {
    await accessDraftPlaces(outside, caller, drafts, places);
    checkRoomForDrafts(count, drafts.length);
    return commit(drafts.length, (numbers) =>
      doSaveDrafts(caller, drafts, places.settings, numbers, outside.now()),
    );
  },
});
