import type { ImageFacts, StoredFile } from './file.ts';
import { UPLOADS_PATH } from './path.ts';

/** The thumbnails of an image, in WebP. */
export interface Thumbnails {
  /** Pixels of the image itself, held upright. */
  readonly width: number;
  readonly height: number;
  readonly still: Uint8Array;
  /** All frames, if the image moves and has not too many. */
  readonly moving: Uint8Array | undefined;
}

/** The box (pixels) that every thumbnail fits in. */
export const THUMBNAIL_BOX = { width: 840, height: 560 } as const;

/** The names of thumbnails: of all frames of an image that moves, and of the first. */
export const ANIMATED = '840x560-anim.webp';
export const STILL = '840x560.webp';

const format = { max_width: THUMBNAIL_BOX.width, max_height: THUMBNAIL_BOX.height, format: 'webp' } as const;

/** The thumbnails that there are, as clients get them when they register. Only animated images have the first one. */
export const thumbnailFormats = [
  { name: ANIMATED, ...format, animated: true },
  { name: STILL, ...format, animated: false },
] as const;

/** A thumbnail as a client may ask for it. */
const NAME = /^\d{1,5}x\d{1,5}(-anim)?\.[a-z]{1,5}$/;

/**
 * The nearest thumbnail that there is of an image: clients may know those of another release. Undefined for what cannot be
 * a name of one.
 */
export function nearestThumbnail({ isAnimated }: ImageFacts, name: string): string | undefined {
  const asked = NAME.exec(name);
  return asked ? (isAnimated && asked[1] !== undefined ? ANIMATED : STILL) : undefined;
}

/** The address of the thumbnail that messages show of an image. */
export const thumbnailUrl = ({ pathId }: Pick<StoredFile, 'pathId'>, { isAnimated }: ImageFacts): string =>
  `${UPLOADS_PATH}thumbnail/${encodeURI(pathId)}/${isAnimated ? ANIMATED : STILL}`;

/** The key of a thumbnail of a file in the bucket. */
export const thumbnailKey = (realm: string, token: string, name: string): string =>
  `${realm}/thumbnails/${token}/${name}`;

/** What is stored of an image whose thumbnails were made. */
export const imageFacts = ({ width, height, moving }: Thumbnails): ImageFacts => ({
  width,
  height,
  isAnimated: moving !== undefined,
});
