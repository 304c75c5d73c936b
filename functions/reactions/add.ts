import { checkReaction, loadReacting, planReaction } from '../../shared/domain/reaction/react.ts';
import {
  accessTarget,
  checkChangeable,
  loadTarget,
  messageLookupKeys,
} from '../../shared/domain/reader/target.ts';
import { addReaction } from '../../shared/endpoints/reactions.ts';
import { emojiIfValid, emojiLookupKeys, emojiToAdd } from '../../shared/model/message/reaction-emoji.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(addReaction, {
  keys: (input) => [...messageLookupKeys(input.message_id), ...emojiLookupKeys(input)],
  load: ({ input, resolved, outside, userId }) =>
    loadTarget(outside, resolved, userId, input.message_id, (message, reader) =>
      loadReacting(
        message,
        reader,
        emojiIfValid(() => emojiToAdd(input, resolved)),
      ),
    ),
  // The reaction, and perhaps a policy for the topic.
  reserve: 2,
  run: async ({ input, resolved, caller, outside, commit }, loaded) => {
    const target = await accessTarget(caller.standing, loaded);
    checkChangeable(target);
    const emoji = checkReaction(caller.user.userId, target, emojiToAdd(input, resolved), resolved);
    const { count, plan } = planReaction(caller, target, emoji, outside.now());
    return commit(count, plan);
  },
});
