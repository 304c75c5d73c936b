import { emojiImage, loadDecoder } from '../../shared/adapters/emoji-image.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import {
  checkNewEmoji,
  doAddEmoji,
  EMOJI_EVENTS,
  emojiBytes,
  emojiLookupKey,
  emojiNameOf,
} from '../../shared/domain/emoji/emoji-change.ts';
import { emojiKey, emojiPath, IMAGES, newEmojiFiles } from '../../shared/domain/emoji/emoji-file.ts';
import { addEmoji } from '../../shared/endpoints/emoji.ts';
import { checkQuota, loadQuotaUse } from '../../shared/kernel/quota.ts';
import { ConflictError } from '../../shared/log/commit.ts';
import { FOR_EVER } from '../../shared/serve/reply.ts';
import { serve } from '../../shared/serve/serve.ts';

/*
 * The images are in their place before anybody is told of them. When the name is taken in that moment, they are
 * removed again; when the process dies before the commit, they stay behind, a few kilobytes that nothing points to.
 */
export const handler = serve(
  addEmoji,
  {
    parse: (input) => emojiNameOf(input.emoji_name),
    keys: (name) => [emojiLookupKey(name)],
    load: ({ outside, realm }) => Promise.all([loadDecoder(), loadQuotaUse(outside.table, realm, 'emoji')]),
    reserve: EMOJI_EVENTS,
    run: async (
      { input: name, realm, userId, resolved, caller, outside, clients, file, commit },
      [decoder, used],
    ) => {
      checkNewEmoji(caller, name, resolved.follow(emojiLookupKey(name)));
      const { bytes, extension, still } = await emojiImage(decoder, file);
      const files = newEmojiFiles(outside.randomBytes, extension);
      const stored = {
        name,
        authorId: userId,
        sourceUrl: emojiPath(realm, files.image),
        stillUrl: still ? emojiPath(realm, files.still) : null,
        deactivated: false,
      };
      checkQuota('emoji', used, emojiBytes(stored));
      const images: readonly (readonly [string, Uint8Array, string])[] = [
        [emojiKey(realm, files.image), bytes, `image/${extension}`],
        ...(still ? ([[emojiKey(realm, files.still), still, 'image/png']] as const) : []),
      ];
      await Promise.all(images.map((image) => clients.objects.put(IMAGES, ...image, FOR_EVER)));
      try {
        return await commit(EMOJI_EVENTS, ([emojiId = 0]) => doAddEmoji(realm, { ...stored, emojiId }));
      } catch (error) {
        // Only a commit that was refused for sure left nothing behind that needs the images.
        if (error instanceof ConflictError) {
          await Promise.allSettled(images.map(([key]) => clients.objects.remove(IMAGES, key)));
        }
        throw error;
      }
    },
  },
  { objects: s3Objects },
);
