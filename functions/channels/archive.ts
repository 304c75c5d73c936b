import { checkArchiving, loadArchiveGround } from '../../shared/domain/channel-edit/archive.ts';
import { archiveChannel } from '../../shared/endpoints/channel-update.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(archiveChannel, {
  load: ({ input, outside, realm, userId }) =>
    loadArchiveGround(outside.table, realm, input.stream_id, userId),
  // The change, its deletion for old clients, the end of its default status, two settings, and the notice.
  reserve: 6,
  run: ({ caller, outside, commit }, ground) => {
    const { count, change } = checkArchiving(caller, ground, outside.now());
    return commit(count, change);
  },
});
