import { imageKey, imagePath, type StoredImage } from '../../model/realm/picture.ts';

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

/** The file of an emoji's image, below those of its organization. */
export const emojiFile = (file: string): string => `emoji/images/${file}`;

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
      sourceUrl: imagePath(realm, emojiFile(file)),
      stillUrl: still ? imagePath(realm, emojiFile(stillFile)) : null,
      deactivated: false,
    },
    images: [
      [imageKey(realm, emojiFile(file)), bytes, `image/${extension}`],
      ...(still ? [[imageKey(realm, emojiFile(stillFile)), still, 'image/png'] as const] : []),
    ],
  };
}
