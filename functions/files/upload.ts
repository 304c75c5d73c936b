import { loadDecoder } from '../../shared/adapters/image-decoder.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { isThumbnailed, thumbnailsOf } from '../../shared/adapters/thumbnails.ts';
import { putBytes, removeBytes } from '../../shared/domain/files/bytes.ts';
import { loadUploadSpace } from '../../shared/domain/files/file.ts';
import { imageFacts, THUMBNAIL_BOX, type Thumbnails } from '../../shared/domain/files/thumbnail.ts';
import { unusedAt, unusedKey } from '../../shared/domain/files/unused.ts';
import { checkUpload, doAddFile, newFile, uploadQuotaMib } from '../../shared/domain/files/upload.ts';
import { uploadFile } from '../../shared/endpoints/files.ts';
import { ConflictError } from '../../shared/log/commit.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

/** The thumbnails of a file, if it is an image. The decoder is loaded for images only. */
const thumbnailsIn = async (bytes: Uint8Array, contentType: string): Promise<Thumbnails | undefined> =>
  isThumbnailed(contentType)
    ? thumbnailsOf(await loadDecoder(), bytes, contentType, THUMBNAIL_BOX)
    : undefined;

/*
 * The bytes are stored before the file is visible. The entry in the list of unused files comes first, so that cleanup
 * finds them if the process dies before the commit.
 */
export const handler = serveByRole(
  uploadFile,
  {
    load: ({ outside, realm }) => loadUploadSpace(outside.table, realm),
    reserve: 1,
    run: async ({ realm, userId, outside, clients: { objects }, file: sent, commit }, used) => {
      const { environment, randomBytes, table, now } = outside;
      const quota = uploadQuotaMib(environment);
      checkUpload(sent, used, quota);
      const file = newFile(randomBytes, userId, sent, now());
      const thumbnails = await thumbnailsIn(sent.bytes, file.contentType);
      const image = thumbnails && imageFacts(thumbnails);
      const entry = unusedAt(realm, file.token, now());
      await Promise.all([
        table.put(unusedKey(entry), { ...entry }),
        putBytes(objects, realm, file, sent.bytes, thumbnails),
      ]);
      try {
        return await commit(1, ([attachmentId = 0]) =>
          doAddFile(realm, { ...file, ...(image && { image }), attachmentId }, quota),
        );
      } catch (error) {
        // After any other error the file may exist and need its bytes.
        if (error instanceof ConflictError) await removeBytes(objects, realm, file.token);
        throw error;
      }
    },
  },
  { objects: s3Objects },
);
