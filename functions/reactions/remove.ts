import {
  accessTarget,
  checkChangeable,
  loadTarget,
  messagePointers,
} from '../../shared/domain/fetch/message-target.ts';
import { accessReaction, loadUnreacting, planRemoval } from '../../shared/domain/reaction/react.ts';
import { emojiPointers, emojiToRead, removedEmoji } from '../../shared/domain/reaction/reaction-emoji.ts';
import { removeReaction } from '../../shared/endpoints/reactions.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(removeReaction, {
  pointers: (input) => [...messagePointers(input.message_id), ...emojiPointers(input)],
  load: ({ input, known, outside, userId }) =>
    loadTarget(outside, known, userId, input.message_id, (message, reader) =>
      loadUnreacting(
        message,
        reader,
        emojiToRead(() => removedEmoji(input, known)),
      ),
    ),
  ahead: 1,
  run: async ({ input, known, caller, commit }, loaded) => {
    const target = await accessTarget(caller.standing, loaded);
    checkChangeable(target);
    const emoji = accessReaction(caller.user.userId, target, removedEmoji(input, known));
    return commit(1, planRemoval(caller, target, emoji));
  },
});
