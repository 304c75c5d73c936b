import type { Sharp } from 'sharp';
import { badRequest, type Refusal, refusal } from '../kernel/errors.ts';
import { type Decoder, MAX_FRAMES, MAX_PIXELS, openImage } from './image-decoder.ts';

/** Largest file of an emoji (wire facts 2). */
const LARGEST_EMOJI = 5 * 1024 * 1024;
/** Width and height of an emoji. */
const EMOJI_SIZE = 64;
/** Width and height of the two pictures of a user, and of the icon of an organization (the small one). */
const SIZES = { small: 100, medium: 500 } as const;
/** The logo of an organization is as high as its icon, and at most this wide. */
const LOGO_WIDTH = 800;

/** The images of an emoji, 64 by 64. */
export interface EmojiImage {
  readonly bytes: Uint8Array;
  readonly extension: 'png' | 'gif' | 'webp';
  /** The first frame (PNG), where the image moves. */
  readonly still: Uint8Array | undefined;
}

/** How files of the kinds that are taken begin. Nothing else ever reaches the decoder, which knows many more. */
const kinds: readonly (readonly [string, (bytes: Buffer) => boolean])[] = [
  ['png', (bytes) => bytes.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))],
  ['jpeg', (bytes) => bytes.subarray(0, 3).equals(Buffer.from('\xff\xd8\xff', 'latin1'))],
  ['gif', (bytes) => /^GIF8[79]a/.test(bytes.toString('latin1', 0, 6))],
  ['webp', (bytes) => /^RIFF.{4}WEBP/s.test(bytes.toString('latin1', 0, 12))],
];

const noImage = (): Refusal =>
  refusal('badImage', { reason: 'The file is not a PNG, GIF, WebP or JPEG image that can be read.' });

/**
 * Makes the images of an emoji of an uploaded file. What moves keeps moving; all else in the file (places, cameras,
 * comments) is left behind.
 *
 * @throws Refusal `BAD_IMAGE` for everything that is not such an image: other kinds, broken or cut short files, too many
 *   pixels or frames. `BAD_REQUEST` for a file that is too large.
 */
export async function emojiImage(sharp: Decoder, file: Uint8Array): Promise<EmojiImage> {
  if (file.length > LARGEST_EMOJI) throw badRequest('An emoji file has at most 5 MiB.');
  const { bytes, kind, moves } = await checked(sharp, file);
  const fitted = (image: Sharp): Sharp => contained(image, EMOJI_SIZE, EMOJI_SIZE);
  const still = await read(
    fitted(openImage(sharp, bytes, false))
      .png()
      .toBuffer(),
  );
  if (!moves) return { bytes: still, extension: 'png', still: undefined };
  const moving = fitted(openImage(sharp, bytes, true));
  return kind === 'gif'
    ? { bytes: await read(moving.gif().toBuffer()), extension: 'gif', still }
    : { bytes: await read(moving.webp().toBuffer()), extension: 'webp', still };
}

/** The square pictures of a user (PNG), of an uploaded file. Of one that moves, the first frame. Throws `BAD_IMAGE`. */
export async function avatarImages(sharp: Decoder, file: Uint8Array) {
  const { bytes } = await checked(sharp, file);
  const square = (size: number): Promise<Uint8Array> =>
    read(openImage(sharp, bytes, false).resize(size, size, { fit: 'cover' }).png().toBuffer());
  return { small: await square(SIZES.small), medium: await square(SIZES.medium) };
}

/** The icon of an organization (PNG), likewise. */
export async function iconImage(sharp: Decoder, file: Uint8Array): Promise<Uint8Array> {
  const { bytes } = await checked(sharp, file);
  return read(
    openImage(sharp, bytes, false).resize(SIZES.small, SIZES.small, { fit: 'cover' }).png().toBuffer(),
  );
}

/** The logo of an organization (PNG), whole. */
export async function logoImage(sharp: Decoder, file: Uint8Array): Promise<Uint8Array> {
  const { bytes } = await checked(sharp, file);
  const whole = openImage(sharp, bytes, false);
  return read(whole.resize(LOGO_WIDTH, SIZES.small, { fit: 'inside' }).png().toBuffer());
}

/** Checks that a file is an image that may be decoded. Throws `BAD_IMAGE`. */
async function checked(sharp: Decoder, file: Uint8Array) {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const kind = kinds.find(([, begins]) => begins(bytes))?.[0];
  if (kind === undefined) throw noImage();
  const {
    width = 0,
    height = 0,
    pages = 1,
    format,
  } = await read(sharp(bytes, { limitInputPixels: false }).metadata());
  if (format !== kind) throw noImage();
  if (pages > MAX_FRAMES) {
    throw refusal('badImage', { reason: `The image has too many frames: at most ${MAX_FRAMES}.` });
  }
  // The height is that of one frame here, as only the first was asked for.
  if (width * height * pages > MAX_PIXELS) {
    throw refusal('badImage', {
      reason: `The image has too many pixels: at most ${MAX_PIXELS / 1_000_000} million, all frames together.`,
    });
  }
  return { bytes, kind, moves: pages > 1 };
}

/** The whole image in a box of this size, with nothing around it. */
const contained = (image: Sharp, width: number, height: number): Sharp =>
  image.resize(width, height, { fit: 'contain', background: { r: 0, g: 0, b: 0, alpha: 0 } });

/** What the decoder complains of is wrong with the file. */
async function read<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch {
    throw noImage();
  }
}
