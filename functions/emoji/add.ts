import { emojiImage } from '../../shared/adapters/image.ts';
import { loadDecoder } from '../../shared/adapters/image-decoder.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import {
  checkNewEmoji,
  doAddEmoji,
  EMOJI_EVENTS,
  emojiBytes,
  emojiLookupKey,
  emojiNameOf,
} from '../../shared/domain/emoji/change.ts';
import { newEmoji } from '../../shared/domain/emoji/emoji.ts';
import { addEmoji } from '../../shared/endpoints/emoji.ts';
import { checkQuota, loadQuotaUse } from '../../shared/kernel/quota.ts';
import { commitImages } from '../../shared/model/realm/picture.ts';
import { serve } from '../../shared/serve/serve.ts';

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
      return commitImages(objects, images, () =>
        commit(EMOJI_EVENTS, ([emojiId = 0]) => doAddEmoji(realm, { ...emoji, emojiId })),
      );
    },
  },
  { objects: s3Objects },
);
