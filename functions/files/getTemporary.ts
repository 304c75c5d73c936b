import { s3Objects } from '../../shared/adapters/objects.ts';
import { accessBytes } from '../../shared/domain/files/bytes.ts';
import { accessTemporaryLink } from '../../shared/domain/files/temporary-link.ts';
import { getTemporaryFile } from '../../shared/endpoints/files.ts';
import { accessHost } from '../../shared/model/realm/hosts.ts';
import { serveAnyone } from '../../shared/serve/serve.ts';
import { storedFile } from '../../shared/serve/stored-file.ts';

export const handler = serveAnyone(
  getTemporaryFile,
  async ({ input, host, outside, clients }) => {
    const { realm } = await accessHost(outside, host);
    const file = await accessTemporaryLink(outside, realm, input.secret, input.filename);
    return storedFile(await accessBytes(clients.objects, realm, file, true));
  },
  { objects: s3Objects },
);
