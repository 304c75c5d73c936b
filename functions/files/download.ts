import { accessBytes } from '../../shared/domain/files/bytes.ts';
import { downloadFile } from '../../shared/endpoints/file-pages.ts';
import { serveStoredFile } from '../../shared/serve/stored-file.ts';

export const handler = serveStoredFile(downloadFile, (objects, realm, file) =>
  accessBytes(objects, realm, file, false),
);
