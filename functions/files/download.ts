import { downloadFile } from '../../shared/endpoints/file-pages.ts';
import { serveStoredFile } from '../../shared/serve/stored-file.ts';

export const handler = serveStoredFile(downloadFile, false);
