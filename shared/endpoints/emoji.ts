import * as z from 'zod/mini';
import { endpoint, storesImage, writes } from './endpoint.ts';
import { emojiFields } from './objects.ts';
import { text } from './parameter.ts';

const name = text('The name of the emoji, without colons.');

export const listEmoji = endpoint({
  id: 'emoji.list',
  route: 'GET /api/v1/realm/emoji',
  source: 'specification 4.10',
  description: 'Lists the custom emoji of the organization, including deactivated ones.',
  access: 'user',
  reply: z.object({ emoji: z.record(z.string(), z.object(emojiFields)) }),
});

export const addEmoji = endpoint({
  ...storesImage,
  id: 'emoji.add',
  route: 'POST /api/v1/realm/emoji/{emoji_name}',
  source: 'wire facts 11',
  description: 'Adds a custom emoji from an uploaded image.',
  access: 'member',
  parameters: { emoji_name: name },
  file: 'A PNG, GIF, WebP or JPEG image of at most 5 MiB. It is resized to 64 by 64 pixels; an animated one stays animated.',
  // Leaves room for an error message of its own for an image that is slightly too large.
  size: { bytes: 6 * 1024 * 1024 },
});

export const deactivateEmoji = endpoint({
  id: 'emoji.deactivate',
  route: 'DELETE /api/v1/realm/emoji/{emoji_name}',
  source: 'specification 4.9',
  description: 'Deactivates a custom emoji. Existing messages and reactions keep showing it.',
  access: 'user',
  parameters: { emoji_name: name },
  notFound: true,
  needs: { table: [...writes, 'DeleteItem'] },
});

export const getEmojiImage = endpoint({
  id: 'emoji.image',
  route: 'GET /user_avatars/{realm}/{file+}',
  source: 'specification 2.8, companion facts 4.8',
  description:
    'Gets a picture: of a custom emoji, or the first frame of an animated one; of a user; or of the organization.',
  access: 'anyone',
  parameters: {
    realm: text('The organization, as in the URL of the image.'),
    file: text('The file with its folders, as in the URL of the image.'),
  },
  serves: 'An image (PNG, GIF or WebP).',
  notFound: true,
  needs: { table: [], buckets: { images: ['GetObject'] } },
});
