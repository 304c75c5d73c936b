import * as z from 'zod/mini';
import { endpoint, reads, writes } from './endpoint.ts';
import { optional, pathId, word } from './parameter.ts';
import type { QueueWorker } from './worker.ts';

const source = 'specification 4.8, wire facts 10';

/** What an export may contain (specification 2.9). */
const types = ['public', 'full_with_consent', 'full_without_consent'] as const;

const exportFields = z.object({
  id: z.int(),
  acting_user_id: z.int(),
  export_time: z.number(),
  export_type: z.enum(types),
  deleted_timestamp: z.nullable(z.number()),
  failed_timestamp: z.nullable(z.number()),
  export_url: z.nullable(z.string()),
  pending: z.boolean(),
  progress: z.int(),
});

export const createExport = endpoint({
  id: 'exports.create',
  method: 'POST',
  path: '/api/v1/export/realm',
  source,
  description: 'Asks for an archive of the data of the organization; five can be asked for in seven days.',
  access: 'administrator',
  parameters: {
    export_type: optional(
      word(
        'Public data only, which is the default; also the private data of users who consent; or everything, where the organization gives its owners full access.',
        types,
      ),
    ),
  },
  weight: () => 20,
  reply: z.object({ id: z.int() }),
  errors: ['BAD_REQUEST'],
  needs: { table: [...writes, 'ConditionCheckItem'], queues: ['export'] },
});

export const listExports = endpoint({
  id: 'exports.list',
  method: 'GET',
  path: '/api/v1/export/realm',
  source,
  description:
    'Lists the exports, with addresses at which finished ones can be downloaded for an hour. Archives are kept for 30 days.',
  access: 'administrator',
  parameters: {},
  reply: z.object({ exports: z.array(exportFields) }),
  errors: [],
  needs: { table: reads, buckets: { exports: ['GetObject'] } },
});

export const listExportConsents = endpoint({
  id: 'exports.listConsents',
  method: 'GET',
  path: '/api/v1/export/realm/consents',
  source,
  description: 'Tells of all active people whether they consent to exports of their private data.',
  access: 'administrator',
  parameters: {},
  reply: z.object({
    export_consents: z.array(z.object({ user_id: z.int(), consented: z.boolean() })),
  }),
  errors: [],
  needs: { table: reads },
});

export const deleteExport = endpoint({
  id: 'exports.delete',
  method: 'DELETE',
  path: '/api/v1/export/realm/{export_id}',
  source,
  description: 'Deletes the archive of a finished export.',
  access: 'administrator',
  parameters: { export_id: pathId('The ID of the export.') },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: writes, buckets: { exports: ['DeleteObject'] } },
});

export const exportWorker: QueueWorker = {
  id: 'export',
  description:
    'Writes the archives of data exports; while it fails, exports stay pending, and end as failed after some tries.',
  queue: { name: 'export', batchSize: 1, maxReceives: 3 },
  needs: {
    table: writes,
    queues: ['export'],
    buckets: {
      exports: ['GetObject', 'PutObject', 'DeleteObject', 'AbortMultipartUpload'],
      images: ['GetObject'],
    },
  },
  // A run that ends early is followed by another one, so it need not be as long as it could be.
  timeout: 300,
  // A quarter of that is used; the rest is for the processor that comes with it.
  memory: 1024,
};
