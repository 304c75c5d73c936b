import { s3Objects } from '../../shared/adapters/objects.ts';
import { removeRealmPicture } from '../../shared/domain/realm-edit/pictures.ts';
import { removeIcon } from '../../shared/endpoints/realm-pictures.ts';
import { organizationIcon } from '../../shared/model/user/object.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(
  removeIcon,
  {
    reserve: 1,
    run: async (request) => {
      await removeRealmPicture(request, 'icon');
      return { icon_url: organizationIcon(request.caller.realm.uuid) };
    },
  },
  { objects: s3Objects },
);
