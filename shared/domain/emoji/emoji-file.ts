/** The bucket of images that anyone may see who has their address. */
export const IMAGES = 'images';

/** The files of an emoji: the image, and its first frame if it moves. */
export interface EmojiFiles {
  readonly image: string;
  readonly still: string;
}

/**
 * Names for the files of a new emoji. They cannot be guessed, and no name is used twice, so that clients may keep
 * what they once fetched for ever.
 */
export function newEmojiFiles(randomBytes: (count: number) => Uint8Array, extension: string): EmojiFiles {
  const stem = Buffer.from(randomBytes(16)).toString('hex');
  return { image: `${stem}.${extension}`, still: `${stem}-still.png` };
}

/** A file name of ours; nothing else is ever looked for in the bucket. */
const FILE = /^[0-9a-f]{32}(-still)?\.(png|gif|webp)$/;

/** The key of a file in the bucket: the path of its address, so that a cache can stand before the bucket. */
export const emojiKey = (realm: string, file: string): string => `user_avatars/${realm}/emoji/images/${file}`;

/** The path at which clients find it. */
export const emojiPath = (realm: string, file: string): string =>
  `/${emojiKey(encodeURIComponent(realm), file)}`;

/** Longest name of an organization in an address; whatever its letters, the key is one that S3 takes (1,024 bytes). */
const LONGEST_REALM = 255;

/** The key that an address leads to, if it can lead to any. */
export const keyOfAddress = (realm: string, file: string): string | undefined =>
  FILE.test(file) && realm.length <= LONGEST_REALM ? emojiKey(realm, file) : undefined;
