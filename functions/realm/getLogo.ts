import { getLogo } from '../../shared/endpoints/realm-pictures.ts';
import { refusal } from '../../shared/kernel/errors.ts';
import { wholeAddress } from '../../shared/serve/avatar.ts';
import { redirection } from '../../shared/serve/reply.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(getLogo, {
  run: ({ input, caller, baseUrl }) => {
    const path = caller.realm.pictures?.[input.night ? 'night_logo' : 'logo'];
    if (path === undefined) throw refusal('noSuchFile');
    return redirection(wholeAddress(path, baseUrl));
  },
});
