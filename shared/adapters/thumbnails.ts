import type { Sharp } from 'sharp';
import { type Decoder, MAX_FRAMES, MAX_PIXELS, openImage } from './image-decoder.ts';

/** A box (pixels) that an image is made to fit in. Smaller images keep their size. */
interface Box {
  readonly width: number;
  readonly height: number;
}

/** Most pixels of the kinds of images that get thumbnails. Decoding AVIF is slow, and cannot be interrupted. */
const mostPixels: Readonly<Record<string, number>> = {
  'image/avif': 13_000_000,
  'image/gif': MAX_PIXELS,
  'image/jpeg': MAX_PIXELS,
  'image/png': MAX_PIXELS,
  'image/webp': MAX_PIXELS,
};

/** Whether images of this type get thumbnails. */
export const isThumbnailed = (contentType: string): boolean => mostPixels[contentType] !== undefined;

/** Most pixels of all frames of an animated thumbnail together: some seconds of work. */
const MAX_MOVING_PIXELS = 20_000_000;

/** Most bytes of a thumbnail: Lambda returns no more than 6 MB, as base64. */
const MAX_BYTES = 4_000_000;

/**
 * Makes the thumbnails (WebP) of a file that begins as an image of this type does; nothing else in the file (places, cameras,
 * comments) gets into them. Undefined if that cannot be done: the file is broken, cut short, too large or too slow to
 * decode. An animation that is too large has a thumbnail of its first frame only.
 *
 * @param contentType one of those that are thumbnailed, and really that of the file: the decoder knows many more
 */
export async function thumbnailsOf(sharp: Decoder, bytes: Uint8Array, contentType: string, box: Box) {
  const header = await result(sharp(bytes, { limitInputPixels: false }).metadata());
  if (header === undefined) return undefined;
  const { autoOrient, pages = 1 } = header;
  const { width, height } = autoOrient;
  if (width * height > (mostPixels[contentType] ?? 0)) return undefined;
  const still = await encoded(openImage(sharp, bytes, false), box);
  if (still === undefined) return undefined;
  const moves = pages > 1 && isSmallAnimation({ width, height }, pages, box);
  const moving = moves ? await encoded(openImage(sharp, bytes, true), box) : undefined;
  return { width, height, still, moving };
}

function isSmallAnimation({ width, height }: Box, frames: number, box: Box): boolean {
  const scale = Math.min(1, box.width / width, box.height / height);
  const pixels = width * height * frames;
  return frames <= MAX_FRAMES && pixels <= MAX_PIXELS && pixels * scale ** 2 <= MAX_MOVING_PIXELS;
}

async function encoded(image: Sharp, box: Box): Promise<Uint8Array | undefined> {
  const fitted = image.resize({ ...box, fit: 'inside', withoutEnlargement: true });
  const bytes = await result(fitted.webp({ effort: 1 }).toBuffer());
  return bytes && bytes.byteLength <= MAX_BYTES ? bytes : undefined;
}

/** Whatever the decoder complains of is wrong with the file. */
const result = <T>(work: Promise<T>): Promise<T | undefined> => work.catch(() => undefined);
