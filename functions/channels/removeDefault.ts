import { checkChannelEdit } from '../../shared/domain/channel-edit/check.ts';
import { editChannel, loadEditSnapshot, parseChannelEdit } from '../../shared/domain/channel-edit/edit.ts';
import { removeDefaultChannel } from '../../shared/endpoints/channels.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(removeDefaultChannel, {
  parse: ({ stream_id }) => parseChannelEdit({ stream_id, is_default_stream: false }),
  load: ({ input, resolved, outside, userId }) => loadEditSnapshot(outside, resolved, userId, input),
  // The default channels, and the groups of others.
  reserve: 2,
  run: ({ input, caller, outside, commit }, snapshot) =>
    editChannel(caller, commit, checkChannelEdit(caller, input.edit, snapshot), snapshot, outside.now()),
});
