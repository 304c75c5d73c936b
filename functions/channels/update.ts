import { checkChannelEdit } from '../../shared/domain/channel-edit/check.ts';
import {
  editChannel,
  editLookupKeys,
  loadEditSnapshot,
  numbersOfChannelEdit,
  parseChannelEdit,
} from '../../shared/domain/channel-edit/edit.ts';
import { updateChannel } from '../../shared/endpoints/channels.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(updateChannel, {
  parse: parseChannelEdit,
  keys: editLookupKeys,
  load: ({ input, resolved, outside, userId }) => loadEditSnapshot(outside, resolved, userId, input),
  reserve: numbersOfChannelEdit,
  run: ({ input, caller, outside, commit }, snapshot) =>
    editChannel(caller, commit, checkChannelEdit(caller, input.edit, snapshot), snapshot, outside.now()),
});
