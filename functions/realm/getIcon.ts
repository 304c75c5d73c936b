import { realmPictures } from '../../shared/domain/realm-edit/pictures.ts';
import { getIcon } from '../../shared/endpoints/realm-pictures.ts';
import { wholeAddress } from '../../shared/serve/avatar.ts';
import { redirection } from '../../shared/serve/reply.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(getIcon, {
  run: ({ caller, baseUrl }) => redirection(wholeAddress(realmPictures(caller.realm).icon.icon_url, baseUrl)),
});
