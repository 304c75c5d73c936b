import * as z from 'zod/mini';
import { endpoint, reads, writes } from './endpoint.ts';
import { exportFields, exportTypes } from './objects.ts';
import { optional, pathId, word } from './parameter.ts';

const source = 'specification 4.8, wire facts 10';

export const createExport = endpoint({
  id: 'exports.create',
  route: 'POST /api/v1/export/realm',
  source,
  description:
    'Starts an export of the data of the organization. At most five can be started within seven days.',
  access: 'administrator',
  parameters: {
    export_type: optional(
      word(
        'Public data only (default), public data and private data of users who consent, or all data, if the organization gives its owners full access.',
        exportTypes,
      ),
    ),
  },
  weight: () => 20,
  reply: z.object({ id: z.int() }),
  needs: { table: [...writes, 'ConditionCheckItem'], queues: ['export'] },
});

export const listExports = endpoint({
  id: 'exports.list',
  route: 'GET /api/v1/export/realm',
  source,
  description:
    'Lists the exports. Finished ones have a download URL that is valid for an hour. Archives are kept for 30 days.',
  access: 'administrator',
  reply: z.object({ exports: z.array(z.object(exportFields)) }),
  needs: { table: reads, buckets: { exports: ['GetObject'] } },
});

export const listExportConsents = endpoint({
  id: 'exports.listConsents',
  route: 'GET /api/v1/export/realm/consents',
  source,
  description: 'Lists which active users consent to exports of their private data.',
  access: 'administrator',
  reply: z.object({
    export_consents: z.array(z.object({ user_id: z.int(), consented: z.boolean() })),
  }),
});

export const deleteExport = endpoint({
  id: 'exports.delete',
  route: 'DELETE /api/v1/export/realm/{export_id}',
  source,
  description: 'Deletes the archive of a finished export.',
  access: 'administrator',
  parameters: { export_id: pathId('The ID of the export.') },
  needs: { table: writes, buckets: { exports: ['DeleteObject'] } },
});
