import { accessBytes } from '../../shared/domain/files/bytes.ts';
import { getFile } from '../../shared/endpoints/file-pages.ts';
import { serveStoredFile } from '../../shared/serve/stored-file.ts';

export const handler = serveStoredFile(getFile, (objects, realm, file) =>
  accessBytes(objects, realm, file, true),
);
