import { showReference } from '../../shared/endpoints/pages.ts';
import { REFERENCE_PAGE, REFERENCE_POLICY } from '../../shared/openapi/reference.ts';
import { serveStatic } from '../../shared/serve/serve.ts';

export const handler = serveStatic(showReference, async () => ({
  bytes: Buffer.from(REFERENCE_PAGE),
  contentType: 'text/html; charset=utf-8',
  policy: REFERENCE_POLICY,
}));
