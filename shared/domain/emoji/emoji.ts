import type { Table } from '../../table/table.ts';

/** A custom emoji, as stored. It is never deleted, because messages and reactions go on showing it. */
export interface CustomEmoji {
  /** The number of the event that added it. */
  readonly emojiId: number;
  readonly name: string;
  readonly authorId: number;
  /** Path of the image, from the root of the organization's URL. */
  readonly sourceUrl: string;
  /** Path of the first frame if the image is animated. */
  readonly stillUrl: string | null;
  readonly deactivated: boolean;
}

/** The item of an active emoji's name. */
export type NamedEmoji = Pick<CustomEmoji, 'emojiId' | 'sourceUrl'>;

declare module '../../table/keys.ts' {
  interface ItemTypes {
    emoji: CustomEmoji;
    emojiName: NamedEmoji;
  }
}

/** An emoji in replies and events (specification 2.8). */
export const emojiObject = ({ emojiId, name, authorId, sourceUrl, stillUrl, deactivated }: CustomEmoji) => ({
  id: `${emojiId}`,
  name,
  source_url: sourceUrl,
  still_url: stillUrl,
  deactivated,
  author_id: authorId,
});

/** Emoji by id, including deactivated ones (specification 4.10). */
export const emojiObjects = (emoji: readonly CustomEmoji[]): Record<string, ReturnType<typeof emojiObject>> =>
  Object.fromEntries(emoji.map((one) => [`${one.emojiId}`, emojiObject(one)]));

/** All emoji of the organization, oldest first. One round trip. */
export const loadEmoji = (table: Table, realm: string): Promise<readonly CustomEmoji[]> =>
  table.all('emoji', { realm });

/** The bucket of images that are public to everybody with their URL. */
export const IMAGES = 'images';

/** Valid file names. Nothing else is looked up in the bucket. */
const FILE = /^[0-9a-f]{32}(-still)?\.(png|gif|webp)$/;

/** The key of a file in the bucket: the path of its URL, so that a CDN can serve the bucket. */
export const emojiKey = (realm: string, file: string): string => `user_avatars/${realm}/emoji/images/${file}`;

/** The path of a file's URL. */
export const emojiPath = (realm: string, file: string): string =>
  `/${emojiKey(encodeURIComponent(realm), file)}`;

/** Most characters of the organization in a URL, so that a key never exceeds the 1,024 bytes of S3. */
const MAX_REALM = 255;

/** The key of the file at a URL, or undefined if it cannot be one. */
export const keyOfUrl = (realm: string, file: string): string | undefined =>
  FILE.test(file) && realm.length <= MAX_REALM ? emojiKey(realm, file) : undefined;

/** An image to be stored: its key, its bytes and its content type. */
type StoredImage = readonly [key: string, bytes: Uint8Array, contentType: string];

/**
 * A new emoji without its id, and its images: the image itself, and the first frame (`still`) if it is animated. File
 * names are random and never reused, so clients may cache the files for ever.
 */
export function newEmoji(
  realm: string,
  randomBytes: (count: number) => Uint8Array,
  { name, authorId }: Pick<CustomEmoji, 'name' | 'authorId'>,
  { bytes, extension, still }: { bytes: Uint8Array; extension: string; still: Uint8Array | undefined },
): { readonly emoji: Omit<CustomEmoji, 'emojiId'>; readonly images: readonly StoredImage[] } {
  const stem = Buffer.from(randomBytes(16)).toString('hex');
  const file = `${stem}.${extension}`;
  const stillFile = `${stem}-still.png`;
  return {
    emoji: {
      name,
      authorId,
      sourceUrl: emojiPath(realm, file),
      stillUrl: still ? emojiPath(realm, stillFile) : null,
      deactivated: false,
    },
    images: [
      [emojiKey(realm, file), bytes, `image/${extension}`],
      ...(still ? [[emojiKey(realm, stillFile), still, 'image/png'] as const] : []),
    ],
  };
}
