import { badRequest } from '../../kernel/errors.ts';
import type { Objects } from '../../kernel/outside.ts';
import { digestOf } from '../../kernel/text.ts';
import { ConflictError } from '../../log/commit.ts';

/** The bucket of images that are public to everybody with their URL. */
export const IMAGES = 'images';

/** `Cache-Control` of a file that never changes. */
export const FOR_EVER = 'public, max-age=31536000, immutable';

/** Valid files: avatars, and in folders those of custom emoji and of the organization. Nothing else is looked up. */
const FILE = /^(emoji\/images\/|realm\/)?[0-9a-f]{32}(-still|-medium)?\.(png|gif|webp)$/;

/** The key of a file in the bucket: the path of its URL, so that a CDN can serve the bucket. */
export const imageKey = (realm: string, file: string): string => `user_avatars/${realm}/${file}`;

/** The path of a file's URL. */
export const imagePath = (realm: string, file: string): string =>
  `/${imageKey(encodeURIComponent(realm), file)}`;

/** Most characters of the organization in a URL, so that a key never exceeds the 1,024 bytes of S3. */
const MAX_REALM = 255;

/** The key of the file at a URL, or undefined if it cannot be one. */
export const keyOfUrl = (realm: string, file: string): string | undefined =>
  FILE.test(file) && realm.length <= MAX_REALM ? imageKey(realm, file) : undefined;

/** An image to be stored: its key, its bytes and its content type. */
export type StoredImage = readonly [key: string, bytes: Uint8Array, contentType: string];

/** Largest file of an avatar, an icon or a logo (MiB): a request can carry no more. */
export const MAX_PICTURE_MIB = 4;

/** Refuses a file that is too large. */
export function checkPictureSize(file: Uint8Array): void {
  if (file.length > MAX_PICTURE_MIB * 1024 * 1024) {
    throw badRequest(`A picture has at most ${MAX_PICTURE_MIB} MiB.`);
  }
}

/** What the names of pictures made of this file begin with. */
const beginningFor = (file: Uint8Array): string => digestOf(file).slice(0, 16);

/**
 * A name for what is made of an uploaded file. Its first half follows from the file, so that a repeated request is
 * recognized (`isMadeOf`); the second is random, so that no name is used twice and clients may keep the file for ever.
 */
export const pictureName = (file: Uint8Array, randomBytes: (count: number) => Uint8Array): string =>
  beginningFor(file) + Buffer.from(randomBytes(8)).toString('hex');

/** Whether the picture at this path was made of this file. */
export const isMadeOf = (path: string | undefined, file: Uint8Array): boolean =>
  path?.slice(path.lastIndexOf('/') + 1).startsWith(beginningFor(file)) === true;

/** The path of the larger one of two pictures. */
export const mediumPath = (path: string): string => path.replace(/\.png$/, '-medium.png');

/** The key of a picture by its path. */
export const keyOfPath = (path: string): string => decodeURIComponent(path.slice(1));

/** Removes images. What fails stays behind, with nothing that points to it. */
export async function removeImages(objects: Pick<Objects, 'remove'>, keys: readonly string[]): Promise<void> {
  await Promise.allSettled(keys.map((key) => objects.remove(IMAGES, key)));
}

/**
 * Stores images before what points to them is visible, commits that, and removes those that they replace. If the commit
 * meets a conflict, the new ones are removed. If the process dies, files stay behind that nothing points to.
 */
export async function commitImages<T>(
  objects: Pick<Objects, 'put' | 'remove'>,
  images: readonly StoredImage[],
  commit: () => Promise<T>,
  former: readonly string[] = [],
): Promise<T> {
  await Promise.all(images.map((each) => objects.put(IMAGES, ...each, FOR_EVER)));
  let result: T;
  try {
    result = await commit();
  } catch (error) {
    // After any other error the commit may have happened.
    if (error instanceof ConflictError) {
      await removeImages(
        objects,
        images.map(([key]) => key),
      );
    }
    throw error;
  }
  await removeImages(objects, former);
  return result;
}
