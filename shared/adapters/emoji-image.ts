import type { Sharp } from 'sharp';
import { badRequest, type Refusal, refusal } from '../kernel/errors.ts';

/** Largest file that is taken (wire facts 2). */
const LARGEST = 5 * 1024 * 1024;
/** Width and height of what comes of it. */
const SIZE = 64;
/** Most pixels of all frames together that are decoded: 160 MB of memory. */
const PIXELS = 40_000_000;
/** Most frames: each is drawn anew in the size of an emoji, however small it is in the file. */
const FRAMES = 500;
/** Longest that each of the two images may take (seconds): both together are well under what the gateway waits. */
const SECONDS = 8;

/** What decodes images, loaded. */
export type Decoder = typeof import('sharp').default;

/**
 * Loads the decoder, whose machine code makes it the largest part of its function: only when there is a request to be
 * let in, and while that waits for what it reads. Later calls find it loaded.
 */
export const loadDecoder = async (): Promise<Decoder> => (await import('sharp')).default;

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
  if (file.length > LARGEST) throw badRequest('An emoji file has at most 5 MiB.');
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
  if (pages > FRAMES) {
    throw refusal('badImage', { reason: `The image has too many frames: at most ${FRAMES}.` });
  }
  // The height is that of one frame here, as only the first was asked for.
  if (width * height * pages > PIXELS) {
    throw refusal('badImage', {
      reason: `The image has too many pixels: at most ${PIXELS / 1_000_000} million, all frames together.`,
    });
  }
  const moves = pages > 1;
  const still = await read(
    fitted(open(sharp, bytes, false))
      .png()
      .toBuffer(),
  );
  if (!moves) return { bytes: still, extension: 'png', still: undefined };
  const moving = fitted(open(sharp, bytes, true));
  return kind === 'gif'
    ? { bytes: await read(moving.gif().toBuffer()), extension: 'gif', still }
    : { bytes: await read(moving.webp().toBuffer()), extension: 'webp', still };
}

const open = (sharp: Decoder, bytes: Buffer, animated: boolean): Sharp =>
  sharp(bytes, { animated, limitInputPixels: PIXELS, failOn: 'truncated', sequentialRead: true }).timeout({
    seconds: SECONDS,
  });

/** The whole image in the square, upright, with nothing around it. */
const fitted = (image: Sharp): Sharp =>
  image.autoOrient().resize(SIZE, SIZE, { fit: 'contain', background: { r: 0, g: 0, b: 0, alpha: 0 } });

/** What the decoder complains of is wrong with the file. */
async function read<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch {
    throw noImage();
  }
}
