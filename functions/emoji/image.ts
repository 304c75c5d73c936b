import { s3Objects } from '../../shared/adapters/objects.ts';
import { getEmojiImage } from '../../shared/endpoints/emoji.ts';
import { refusal } from '../../shared/kernel/errors.ts';
import { IMAGES, keyOfUrl } from '../../shared/model/realm/picture.ts';
import { serveFile } from '../../shared/serve/serve.ts';

export const handler = serveFile(
  getEmojiImage,
  async ({ input, clients }) => {
    const key = keyOfUrl(input.realm, input.file);
    const image = key === undefined ? undefined : await clients.objects.get(IMAGES, key);
    if (!image) throw refusal('noSuchFile');
    return image;
  },
  { objects: s3Objects },
);
