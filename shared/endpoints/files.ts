import * as z from 'zod/mini';
import { endpoint, reads, writes } from './endpoint.ts';
import { filePath } from './file-pages.ts';
import { attachmentFields } from './objects.ts';
import { pathId, text } from './parameter.ts';

/** What everything that is decided about uploads depends on. */
const settings = ['UPLOAD_QUOTA_MIB'] as const;

export const uploadFile = endpoint({
  id: 'files.upload',
  route: 'POST /api/v1/user_uploads',
  source: 'https://zulip.com/api/upload-file, companion facts 1.1',
  description: 'Uploads a file. A message that links to it lets its readers get it.',
  access: 'user',
  file: 'A file of at most 4 MiB.',
  // As much as Lambda takes, so that a file that is slightly too large gets an error message of its own.
  size: { bytes: 4.4 * 1024 * 1024 },
  reply: z.object({ url: z.string(), uri: z.string(), filename: z.string() }),
  errors: ['REALM_UPLOAD_QUOTA'],
  needs: { table: writes, buckets: { uploads: ['PutObject', 'DeleteObject'] }, settings },
  // Thumbnails are made in the request, and this much memory comes with a whole processor.
  timeout: 25,
  memory: 1769,
});

export const listAttachments = endpoint({
  id: 'files.list',
  route: 'GET /api/v1/attachments',
  source: 'https://zulip.com/api/get-attachments, companion facts 1.6',
  description:
    'Lists the files that the caller uploaded, and the space that all files of the organization take.',
  access: 'user',
  reply: z.object({ attachments: z.array(z.object(attachmentFields)), upload_space_used: z.int() }),
});

export const removeAttachment = endpoint({
  id: 'files.remove',
  route: 'DELETE /api/v1/attachments/{attachment_id}',
  source: 'https://zulip.com/api/remove-attachment, companion facts 1.6',
  description: 'Removes a file that the caller uploaded. Links to it lead nowhere then.',
  access: 'user',
  parameters: { attachment_id: pathId('The ID of the file.') },
  needs: { table: [...reads, 'PutItem', 'UpdateItem', 'DeleteItem'], buckets: { uploads: ['DeleteObject'] } },
});

export const createTemporaryLink = endpoint({
  id: 'files.createTemporaryLink',
  route: 'GET /api/v1/user_uploads/{realm_id}/{shard}/{token}/{name}',
  source: 'https://zulip.com/api/get-file-temporary-url, companion facts 1.5',
  description: 'Makes an address of a file that needs no credentials and is good for a minute.',
  access: 'user',
  parameters: filePath,
  notFound: true,
  reply: z.object({ url: z.string() }),
  needs: { table: [...reads, 'PutItem'] },
});

export const getThumbnailStatus = endpoint({
  id: 'files.getThumbnailStatus',
  route: 'GET /api/v1/thumbnail/status/{realm_id}/{shard}/{token}/{name}',
  source: 'companion facts 1.4',
  description: 'Tells whether there is a thumbnail of a file.',
  access: 'user',
  parameters: filePath,
  notFound: true,
  reply: z.object({ has_thumbnail: z.boolean() }),
});

export const getTemporaryFile = endpoint({
  id: 'files.getTemporary',
  route: 'GET /user_uploads/temporary/{secret}/{filename}',
  source: 'companion facts 1.5',
  description: 'Gets the file at a temporary address.',
  access: 'anyone',
  parameters: {
    secret: text('The third part of the address.'),
    filename: text('The last part of the address.'),
  },
  serves: 'The file.',
  needs: { table: ['BatchGetItem'], buckets: { uploads: ['GetObject'] } },
  timeout: 15,
  memory: 1024,
});
