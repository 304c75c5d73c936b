import { accessFile, loadFileAccess } from '../../shared/domain/files/access.ts';
import { pathIn } from '../../shared/domain/files/request.ts';
import { getThumbnailStatus } from '../../shared/endpoints/files.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(getThumbnailStatus, {
  parse: pathIn,
  load: ({ input, outside, realm, userId }) => loadFileAccess(outside, realm, userId, input),
  run: async ({ caller }, { reader, held }) => {
    const { image } = await accessFile(reader, caller.standing, held);
    return { has_thumbnail: image !== undefined };
  },
});
