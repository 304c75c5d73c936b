import { checkDefaultChange, loadDefaultGround } from '../../shared/domain/channel-edit/default.ts';
import { editChannel } from '../../shared/domain/channel-edit/do.ts';
import { removeDefaultChannel } from '../../shared/endpoints/channel-update.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(removeDefaultChannel, {
  load: ({ input, outside, resolved, userId }) =>
    loadDefaultGround(outside, resolved, userId, input.stream_id),
  reserve: 1,
  run: ({ caller, outside, commit }, ground) =>
    editChannel(caller, commit, checkDefaultChange(caller, false, ground), ground, outside.now()),
});
