import { s3Objects } from '../../shared/adapters/objects.ts';
import { removeBytes } from '../../shared/domain/files/bytes.ts';
import { accessOwnFile, doRemoveFile, loadOwnFile } from '../../shared/domain/files/remove.ts';
import { removeAttachment } from '../../shared/endpoints/files.ts';
import { traceOf } from '../../shared/kernel/errors.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(
  removeAttachment,
  {
    load: ({ input, outside, realm, userId }) =>
      loadOwnFile(outside.table, realm, userId, input.attachment_id),
    reserve: 1,
    run: async ({ realm, userId, outside, clients: { objects }, commit }, stored) => {
      const file = accessOwnFile(stored);
      const reply = await commit(1, () => doRemoveFile(realm, userId, file));
      // Nobody can get the bytes any more. If they stay, cleanup removes them.
      await removeBytes(objects, realm, file.token).catch((error: unknown) => {
        outside.report({ level: 'WARN', message: 'bytes of a removed file are left', error: traceOf(error) });
      });
      return reply;
    },
  },
  { objects: s3Objects },
);
