import type { Endpoint } from '../endpoints/endpoint.ts';
import type { getAvatar } from '../endpoints/file-pages.ts';
import { accessUser } from '../model/subscription/user-access.ts';
import { userIdOf, userLookupKeys } from '../model/user/principals.ts';
import type { User } from '../model/user/user.ts';
import { redirection } from './reply.ts';
import { serveToSignedIn } from './stored-file.ts';

/** An address of a picture as a whole: those of our own are paths. */
export const wholeAddress = (address: string, baseUrl: string): URL =>
  new URL(address.startsWith('/') ? `${baseUrl}${address}` : address);

/** Makes the Lambda handler of an endpoint that leads people with credentials or a session to the avatar of a user. */
export const serveAvatar = (
  endpoint: Endpoint<(typeof getAvatar)['parameters'], object>,
  addressOf: (user: User) => string,
) =>
  serveToSignedIn(endpoint, {
    keys: ({ user }) => userLookupKeys(user),
    load: async ({ input, resolved, outside, realm }) => {
      const userId = userIdOf(input.user, resolved);
      return userId === undefined ? undefined : outside.table.get('user', { realm, userId });
    },
    run: async ({ caller, outside, baseUrl }, user) =>
      redirection(wholeAddress(addressOf(await accessUser(outside, caller, user)), baseUrl)),
  });
