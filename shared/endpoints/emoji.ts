import * as z from 'zod/mini';
import { endpoint, reads, writes } from './endpoint.ts';
import { text } from './parameter.ts';

/** An emoji in replies and events (specification 2.8; made by `shared/domain/emoji/emoji.ts`). */
const emojiFields = z.object({
  id: z.string(),
  name: z.string(),
  source_url: z.string(),
  still_url: z.nullable(z.string()),
  deactivated: z.boolean(),
  author_id: z.nullable(z.int()),
});

const name = text('The name of the emoji, without colons.');

export const listEmoji = endpoint({
  id: 'emoji.list',
  method: 'GET',
  path: '/api/v1/realm/emoji',
  source: 'specification 4.10',
  description: 'Lists the custom emoji of the organization, deactivated ones too.',
  access: 'user',
  parameters: {},
  reply: z.object({ emoji: z.record(z.string(), emojiFields) }),
  errors: [],
  needs: { table: reads },
});

export const addEmoji = endpoint({
  id: 'emoji.add',
  method: 'POST',
  path: '/api/v1/realm/emoji/{emoji_name}',
  source: 'wire facts 11',
  description: 'Adds a custom emoji from an uploaded image.',
  access: 'member',
  parameters: { emoji_name: name },
  file: 'A PNG, GIF, WebP or JPEG image of at most 5 MiB; it is resized to 64 by 64, and what moves keeps moving.',
  // An image that is a little too large is refused in words of its own.
  size: { bytes: 6 * 1024 * 1024 },
  weight: () => 10,
  reply: z.object({}),
  errors: ['BAD_REQUEST', 'BAD_IMAGE'],
  needs: { table: writes, buckets: { images: ['PutObject', 'DeleteObject'] } },
  // Decoding an animated image takes memory for all its frames, and a processor that comes with it.
  memory: 1769,
  timeout: 25,
});

export const deactivateEmoji = endpoint({
  id: 'emoji.deactivate',
  method: 'DELETE',
  path: '/api/v1/realm/emoji/{emoji_name}',
  source: 'specification 4.9',
  description: 'Deactivates a custom emoji. What was said with it goes on showing it.',
  access: 'user',
  parameters: { emoji_name: name },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  notFound: true,
  needs: { table: [...writes, 'DeleteItem'] },
});

export const getEmojiImage = endpoint({
  id: 'emoji.image',
  method: 'GET',
  path: '/user_avatars/{realm}/emoji/images/{file}',
  source: 'specification 2.8',
  description: 'Serves the image of a custom emoji, or the first frame of one that moves.',
  access: 'anyone',
  parameters: {
    realm: text('The organization, as in the address of the image.'),
    file: text('The file, as in the address of the image.'),
  },
  serves: 'An image (PNG, GIF or WebP).',
  reply: z.custom<object>(),
  errors: ['BAD_REQUEST'],
  notFound: true,
  needs: { table: [], buckets: { images: ['GetObject'] } },
});
