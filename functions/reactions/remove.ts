import { accessReaction, doRemoveReaction, loadUnreacting } from '../../shared/domain/reaction/react.ts';
import {
  accessTarget,
  checkChangeable,
  loadTarget,
  messageLookupKeys,
} from '../../shared/domain/reader/target.ts';
import { removeReaction } from '../../shared/endpoints/reactions.ts';
import { emojiIfValid, emojiLookupKeys, emojiToRemove } from '../../shared/model/message/reaction-emoji.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(removeReaction, {
  keys: (input) => [...messageLookupKeys(input.message_id), ...emojiLookupKeys(input)],
  load: ({ input, resolved, outside, userId }) =>
    loadTarget(outside, resolved, userId, input.message_id, (message, reader) =>
      loadUnreacting(
        message,
        reader,
        emojiIfValid(() => emojiToRemove(input, resolved)),
      ),
    ),
  reserve: 1,
  run: async ({ input, resolved, caller, commit }, loaded) => {
    const target = await accessTarget(caller.standing, loaded);
    checkChangeable(target);
    const emoji = accessReaction(caller.user.userId, target, emojiToRemove(input, resolved));
    return commit(1, () => doRemoveReaction(caller, target, emoji));
  },
});
