import { s3Objects } from '../../shared/adapters/objects.ts';
import { archiveKey, EXPORTS, loadExports } from '../../shared/domain/export/realm-export.ts';
import { accessFinished, doDeleteExport } from '../../shared/domain/export/request.ts';
import { deleteExport } from '../../shared/endpoints/exports.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

/*
 * The archive is deleted before the event is committed. If the function dies between the two, the export is still listed
 * and can be deleted again.
 */
export const handler = serveByRole(
  deleteExport,
  {
    load: ({ realm, outside }) => loadExports(outside.table, realm),
    reserve: 1,
    run: async ({ input, realm, outside, clients, commit }, exports) => {
      const one = accessFinished(exports, input.export_id, outside.now());
      await clients.objects.remove(EXPORTS, archiveKey(realm, one.token));
      return commit(1, () => doDeleteExport(realm, one, outside.now()));
    },
  },
  { objects: s3Objects },
);
