import type { Lookup, ResolvedImage } from '../../markdown/references.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { StoredFile } from './file.ts';
import { type LinkedFiles, pathIdOf } from './link.ts';
import { UPLOADS_PATH } from './path.ts';
import { thumbnailUrl } from './thumbnail.ts';

/**
 * The images that a text may show, by the address of a link: those of the files, which its author may get, that have
 * thumbnails. Undefined if the organization shows none.
 */
export function shownImages(
  { realm }: Pick<Caller, 'realm'>,
  { baseUrl }: Pick<LinkedFiles, 'baseUrl'>,
  files: readonly StoredFile[],
): Lookup<string, ResolvedImage> | undefined {
  const images = new Map(files.flatMap((file) => (file.image ? [[file.pathId, file] as const] : [])));
  if (images.size === 0 || !realm.settings.inline_image_preview) return undefined;
  return {
    get: (link) => {
      const file = images.get(pathIdOf(link, baseUrl) ?? '');
      return file?.image && resolvedImage(file, file.image);
    },
  };
}

const resolvedImage = (file: StoredFile, image: NonNullable<StoredFile['image']>): ResolvedImage => ({
  ...image,
  url: `${UPLOADS_PATH}${encodeURI(file.pathId)}`,
  thumbnailUrl: thumbnailUrl(file, image),
  contentType: file.contentType,
});
