import { refusal } from '../../kernel/errors.ts';
import type { Objects } from '../../kernel/outside.ts';
import { isShownInline } from './content-type.ts';
import { objectKey, type StoredFile, UPLOADS } from './file.ts';
import { ANIMATED, nearestThumbnail, STILL, type Thumbnails, thumbnailKey } from './thumbnail.ts';

/** A file with its bytes. 404 if they are gone: its removal was faster. */
export async function accessBytes(
  objects: Pick<Objects, 'get'>,
  realm: string,
  { token, name, contentType }: StoredFile,
  mayShow: boolean,
) {
  const stored = await objects.get(UPLOADS, objectKey(realm, token));
  if (stored === undefined) throw refusal('noSuchFile');
  return { bytes: stored.bytes, contentType, name, isInline: mayShow && isShownInline(contentType) };
}

/** A thumbnail of a file. 404 if there is none: the file is no image, or could not be decoded. */
export async function accessThumbnail(
  objects: Pick<Objects, 'get'>,
  realm: string,
  { token, name, image }: StoredFile,
  asked: string,
) {
  const nearest = image && nearestThumbnail(image, asked);
  const stored = nearest && (await objects.get(UPLOADS, thumbnailKey(realm, token, nearest)));
  if (!stored) throw refusal('noSuchFile');
  return { bytes: stored.bytes, contentType: 'image/webp', name: `${name}.webp`, isInline: true };
}

/** Stores the bytes of a file, and its thumbnails. */
export async function putBytes(
  objects: Pick<Objects, 'put'>,
  realm: string,
  { token, contentType }: Pick<StoredFile, 'token' | 'contentType'>,
  bytes: Uint8Array,
  { still, moving }: Partial<Thumbnails> = {},
): Promise<void> {
  const put = (name: string, image: Uint8Array) =>
    objects.put(UPLOADS, thumbnailKey(realm, token, name), image, 'image/webp');
  await Promise.all([
    objects.put(UPLOADS, objectKey(realm, token), bytes, contentType),
    still && put(STILL, still),
    moving && put(ANIMATED, moving),
  ]);
}

/** Removes the bytes of a file and its thumbnails; some may not be there. */
export async function removeBytes(
  objects: Pick<Objects, 'remove'>,
  realm: string,
  token: string,
): Promise<void> {
  const thumbnails = [STILL, ANIMATED].map((name) => thumbnailKey(realm, token, name));
  const keys = [objectKey(realm, token), ...thumbnails];
  await Promise.all(keys.map((key) => objects.remove(UPLOADS, key)));
}
