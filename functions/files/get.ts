import { s3Objects } from '../../shared/adapters/objects.ts';
import { accessFile, loadFileAccess } from '../../shared/domain/files/access.ts';
import { accessBytes } from '../../shared/domain/files/bytes.ts';
import { pathIn } from '../../shared/domain/files/request.ts';
import { getFile } from '../../shared/endpoints/file-pages.ts';
import { serveStoredFile, storedFile } from '../../shared/serve/stored-file.ts';

export const handler = serveStoredFile(
  getFile,
  {
    parse: pathIn,
    load: ({ input, outside, realm, userId }) => loadFileAccess(outside, realm, userId, input),
    run: async ({ realm, caller, clients }, { reader, held }) => {
      const file = await accessFile(reader, caller.standing, held);
      return storedFile(await accessBytes(clients.objects, realm, file, true));
    },
  },
  { objects: s3Objects },
);
