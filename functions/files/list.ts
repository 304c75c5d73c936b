import { attachmentObject, loadOwnFiles, loadUploadSpace } from '../../shared/domain/files/file.ts';
import { listAttachments } from '../../shared/endpoints/files.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listAttachments, {
  load: ({ outside, realm, userId }) =>
    Promise.all([loadOwnFiles(outside.table, realm, userId), loadUploadSpace(outside.table, realm)]),
  run: (_, [files, used]) => ({ attachments: files.map(attachmentObject), upload_space_used: used }),
});
