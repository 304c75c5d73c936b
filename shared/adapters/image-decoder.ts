import type { Sharp } from 'sharp';

/** Most pixels of all frames together that are decoded: 160 MB of memory. */
export const MAX_PIXELS = 40_000_000;

/** Most frames: each is drawn whole, however small it is in the file. */
export const MAX_FRAMES = 500;

/** Longest that one image may take (seconds): two of them are well under what the gateway waits. */
const SECONDS = 8;

/** What decodes images, loaded. */
export type Decoder = typeof import('sharp').default;

/**
 * Loads the decoder, whose machine code makes it the largest part of its function: only when there is an image to decode.
 * Later calls find it loaded.
 */
export const loadDecoder = async (): Promise<Decoder> => (await import('sharp')).default;

/** Opens an image, upright: all of its frames, or the first. A file that is cut short, or takes too long, is an error. */
export const openImage = (sharp: Decoder, bytes: Uint8Array, animated: boolean): Sharp =>
  sharp(bytes, { animated, limitInputPixels: MAX_PIXELS, failOn: 'truncated', sequentialRead: true })
    .timeout({ seconds: SECONDS })
    .autoOrient();
