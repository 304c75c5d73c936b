import { loadOneEmoji, type NamedEmoji } from '../../shared/domain/emoji/emoji.ts';
import {
  checkDeactivation,
  doDeactivateEmoji,
  EMOJI_EVENTS,
} from '../../shared/domain/emoji/emoji-change.ts';
import type { Pointer } from '../../shared/domain/pointer.ts';
import { deactivateEmoji } from '../../shared/endpoints/emoji.ts';
import { serve } from '../../shared/serve/serve.ts';

const pointer = (name: string): Pointer => ({ kind: 'emojiName', name });

export const handler = serve(deactivateEmoji, {
  pointers: ({ emoji_name }) => [pointer(emoji_name)],
  ahead: EMOJI_EVENTS,
  load: async ({ input, known, outside, realm }) => {
    const named = known.follow<NamedEmoji>(pointer(input.emoji_name));
    return named && (await loadOneEmoji(outside.table, realm, named.emojiId));
  },
  run: ({ input, realm, caller, commit }, emoji) => {
    const decided = checkDeactivation(caller, emoji, input.emoji_name);
    return commit(EMOJI_EVENTS, () => doDeactivateEmoji(realm, decided));
  },
});
