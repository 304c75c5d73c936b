import { accessFile, loadFileAccess } from '../../shared/domain/files/access.ts';
import { pathIn } from '../../shared/domain/files/request.ts';
import { newTemporaryLink } from '../../shared/domain/files/temporary-link.ts';
import { createTemporaryLink } from '../../shared/endpoints/files.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(createTemporaryLink, {
  parse: pathIn,
  load: ({ input, outside, realm, userId }) => loadFileAccess(outside, realm, userId, input),
  run: async ({ realm, caller, outside }, { reader, held }) => {
    const file = await accessFile(reader, caller.standing, held);
    return { url: await newTemporaryLink(outside, realm, file) };
  },
});
