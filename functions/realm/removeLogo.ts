import { s3Objects } from '../../shared/adapters/objects.ts';
import { removeRealmPicture } from '../../shared/domain/realm-edit/pictures.ts';
import { removeLogo } from '../../shared/endpoints/realm-pictures.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(
  removeLogo,
  {
    reserve: 1,
    run: async (request) => {
      await removeRealmPicture(request, request.input.night ? 'night_logo' : 'logo');
      return {};
    },
  },
  { objects: s3Objects },
);
