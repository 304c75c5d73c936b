import { showReference } from '../../shared/endpoints/pages.ts';
import { REFERENCE_POLICY, referencePage } from '../../shared/openapi/reference.ts';
import { serveStatic } from '../../shared/serve/serve.ts';

export const handler = serveStatic(showReference, async (_, root) => ({
  bytes: Buffer.from(referencePage(root)),
  contentType: 'text/html; charset=utf-8',
  policy: REFERENCE_POLICY,
}));
