import { accessThumbnail } from '../../shared/domain/files/bytes.ts';
import { getThumbnail } from '../../shared/endpoints/file-pages.ts';
import { serveStoredFile } from '../../shared/serve/stored-file.ts';

export const handler = serveStoredFile(getThumbnail, (objects, realm, file, { format }) =>
  accessThumbnail(objects, realm, file, format),
);
