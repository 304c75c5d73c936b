import { getReferenceFile } from '../../shared/endpoints/pages.ts';
import { refusal } from '../../shared/kernel/errors.ts';
import { loadReferenceFile } from '../../shared/openapi/reference.ts';
import { serveStatic } from '../../shared/serve/serve.ts';

export const handler = serveStatic(getReferenceFile, async ({ file }) => {
  const found = await loadReferenceFile(file);
  if (found === undefined) throw refusal('noSuchFile');
  return found;
});
