import {
  checkDeactivation,
  doDeactivateEmoji,
  EMOJI_EVENTS,
  emojiLookupKey,
} from '../../shared/domain/emoji/change.ts';
import { deactivateEmoji } from '../../shared/endpoints/emoji.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(deactivateEmoji, {
  keys: ({ emoji_name }) => [emojiLookupKey(emoji_name)],
  reserve: EMOJI_EVENTS,
  load: async ({ input, resolved, outside, realm }) => {
    const named = resolved.follow(emojiLookupKey(input.emoji_name));
    return named && (await outside.table.get('emoji', { realm, emojiId: named.emojiId }));
  },
  run: ({ input, realm, caller, commit }, emoji) => {
    const active = checkDeactivation(caller, emoji, input.emoji_name);
    return commit(EMOJI_EVENTS, () => doDeactivateEmoji(realm, active));
  },
});
