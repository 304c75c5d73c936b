import { s3Objects } from '../../shared/adapters/objects.ts';
import { exportObjects, loadExports } from '../../shared/domain/export/realm-export.ts';
import { listExports } from '../../shared/endpoints/exports.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(
  listExports,
  {
    load: ({ realm, outside }) => loadExports(outside.table, realm),
    run: async ({ realm, outside, clients }, exports) => ({
      exports: await exportObjects(clients.objects, realm, exports, outside.now()),
    }),
  },
  { objects: s3Objects },
);
