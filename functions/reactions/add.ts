import {
  accessTarget,
  checkChangeable,
  loadTarget,
  messagePointers,
} from '../../shared/domain/fetch/message-target.ts';
import { checkReaction, loadReacting, planReaction } from '../../shared/domain/reaction/react.ts';
import { emojiPointers, emojiToRead, namedEmoji } from '../../shared/domain/reaction/reaction-emoji.ts';
import { addReaction } from '../../shared/endpoints/reactions.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(addReaction, {
  pointers: (input) => [...messagePointers(input.message_id), ...emojiPointers(input)],
  load: ({ input, known, outside, userId }) =>
    loadTarget(outside, known, userId, input.message_id, (message, reader) =>
      loadReacting(
        message,
        reader,
        emojiToRead(() => namedEmoji(input, known)),
      ),
    ),
  // The reaction, and perhaps a policy for the topic.
  ahead: 2,
  run: async ({ input, known, caller, outside, commit }, loaded) => {
    const target = await accessTarget(caller.standing, loaded);
    checkChangeable(target);
    const emoji = checkReaction(caller.user.userId, target, namedEmoji(input, known), known);
    const { count, plan } = planReaction(caller, target, emoji, outside.now());
    return commit(count, plan);
  },
});
