import { loadOneEmoji, type NamedEmoji } from '../../shared/domain/emoji/emoji.ts';
import {
  checkDeactivation,
  doDeactivateEmoji,
  EMOJI_EVENTS,
  emojiPointer,
} from '../../shared/domain/emoji/emoji-change.ts';
import { deactivateEmoji } from '../../shared/endpoints/emoji.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(deactivateEmoji, {
  pointers: ({ emoji_name }) => [emojiPointer(emoji_name)],
  ahead: EMOJI_EVENTS,
  load: async ({ input, known, outside, realm }) => {
    const named = known.follow<NamedEmoji>(emojiPointer(input.emoji_name));
    return named && (await loadOneEmoji(outside.table, realm, named.emojiId));
  },
  run: ({ input, realm, caller, commit }, emoji) => {
    const decided = checkDeactivation(caller, emoji, input.emoji_name);
    return commit(EMOJI_EVENTS, () => doDeactivateEmoji(realm, decided));
  },
});
