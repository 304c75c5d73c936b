import { checkDefaultChange, loadDefaultSnapshot } from '../../shared/domain/channel-edit/check.ts';
import { editChannel } from '../../shared/domain/channel-edit/edit.ts';
import { addDefaultChannel } from '../../shared/endpoints/channel-update.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(addDefaultChannel, {
  load: ({ input, outside, resolved, userId }) =>
    loadDefaultSnapshot(outside, resolved, userId, input.stream_id),
  reserve: 1,
  run: ({ caller, outside, commit }, snapshot) =>
    editChannel(caller, commit, checkDefaultChange(caller, true, snapshot), snapshot, outside.now()),
});
