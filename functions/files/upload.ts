import { s3Objects } from '../../shared/adapters/objects.ts';
import { loadUploadSpace, objectKey, UPLOADS } from '../../shared/domain/files/file.ts';
import { unusedAt, unusedKey } from '../../shared/domain/files/unused.ts';
import { checkUpload, doAddFile, newFile, uploadQuotaMib } from '../../shared/domain/files/upload.ts';
import { uploadFile } from '../../shared/endpoints/files.ts';
import { ConflictError } from '../../shared/log/commit.ts';
import { serve } from '../../shared/serve/serve.ts';

/*
 * The bytes are stored before the file is visible. The entry in the list of unused files comes first, so that cleanup
 * finds them if the process dies before the commit.
 */
export const handler = serve(
  uploadFile,
  {
    load: ({ outside, realm }) => loadUploadSpace(outside.table, realm),
    reserve: 1,
    run: async ({ realm, userId, outside, clients: { objects }, file: sent, commit }, used) => {
      const { environment, randomBytes, table, now } = outside;
      const quota = uploadQuotaMib(environment);
      checkUpload(sent, used, quota);
      const file = newFile(randomBytes, userId, sent, now());
      const entry = unusedAt(realm, file.token, now());
      const at = objectKey(realm, file.token);
      await Promise.all([
        table.put(unusedKey(entry), { ...entry }),
        objects.put(UPLOADS, at, sent.bytes, file.contentType),
      ]);
      try {
        return await commit(1, ([attachmentId = 0]) => doAddFile(realm, { ...file, attachmentId }, quota));
      } catch (error) {
        // After any other error the file may exist and need its bytes.
        if (error instanceof ConflictError) await objects.remove(UPLOADS, at);
        throw error;
      }
    },
  },
  { objects: s3Objects },
);
