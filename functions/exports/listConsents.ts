import { loadConsents } from '../../shared/domain/export/request.ts';
import { listExportConsents } from '../../shared/endpoints/exports.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listExportConsents, {
  load: ({ realm, outside }) => loadConsents(outside.table, realm),
  run: (_, consents) => ({ export_consents: consents }),
});
