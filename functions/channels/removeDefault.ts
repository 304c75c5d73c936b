import { checkDefaultChange, loadDefaultGround } from '../../shared/domain/channel-edit/default.ts';
import { removeDefaultChannel } from '../../shared/endpoints/channel-update.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(removeDefaultChannel, {
  load: ({ input, outside, resolved, userId }) =>
    loadDefaultGround(outside, resolved, userId, input.stream_id),
  reserve: 1,
  run: ({ caller, outside, commit }, ground) => {
    const { count, change } = checkDefaultChange(caller, false, ground, outside.now());
    return count === 0 ? {} : commit(count, change);
  },
});
