import { emojiImage, loadDecoder } from '../../shared/adapters/emoji-image.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import {
  checkNewEmoji,
  doAddEmoji,
  EMOJI_EVENTS,
  emojiBytes,
  emojiLookupKey,
  emojiNameOf,
} from '../../shared/domain/emoji/change.ts';
import { IMAGES, newEmoji } from '../../shared/domain/emoji/emoji.ts';
import { addEmoji } from '../../shared/endpoints/emoji.ts';
import { checkQuota, loadQuotaUse } from '../../shared/kernel/quota.ts';
import { ConflictError } from '../../shared/log/commit.ts';
import { FOR_EVER } from '../../shared/serve/reply.ts';
import { serve } from '../../shared/serve/serve.ts';

/*
 * The images are stored before the emoji is visible. If the name is taken meanwhile, they are removed again. If the
 * process dies before the commit, they stay behind: a few kilobytes that nothing points to.
 */
export const handler = serve(
  addEmoji,
  {
    parse: (input) => emojiNameOf(input.emoji_name),
    keys: (name) => [emojiLookupKey(name)],
    load: ({ outside, realm }) => Promise.all([loadDecoder(), loadQuotaUse(outside.table, realm, 'emoji')]),
    reserve: EMOJI_EVENTS,
    run: async (
      { input: name, realm, userId, resolved, caller, outside, clients: { objects }, file, commit },
      [decoder, used],
    ) => {
      checkNewEmoji(caller, name, resolved.follow(emojiLookupKey(name)));
      const image = await emojiImage(decoder, file.bytes);
      const { emoji, images } = newEmoji(realm, outside.randomBytes, { name, authorId: userId }, image);
      checkQuota('emoji', used, emojiBytes(emoji));
      await Promise.all(images.map((each) => objects.put(IMAGES, ...each, FOR_EVER)));
      try {
        return await commit(EMOJI_EVENTS, ([emojiId = 0]) => doAddEmoji(realm, { ...emoji, emojiId }));
      } catch (error) {
        // After any other error the emoji may exist and need its images.
        if (error instanceof ConflictError) {
          await Promise.allSettled(images.map(([key]) => objects.remove(IMAGES, key)));
        }
        throw error;
      }
    },
  },
  { objects: s3Objects },
);
