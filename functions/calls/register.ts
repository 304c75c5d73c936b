import { awsSecrets } from '../../shared/adapters/secrets.ts';
import { kmsVault } from '../../shared/adapters/vault.ts';
import { beginConsent, consentCookie } from '../../shared/domain/calls/consent.ts';
import { accessProvider, completionUrl } from '../../shared/domain/calls/provider.ts';
import { consentUrl } from '../../shared/domain/calls/provider-api.ts';
import { registerCalls } from '../../shared/endpoints/calls.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import { setCookie } from '../../shared/serve/cookie.ts';
import { redirection } from '../../shared/serve/reply.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(
  registerCalls,
  {
    run: async ({ input, realm, userId, baseUrl, fromOtherSite, outside, clients }) => {
      // A link may contain the credentials of another user (`https://them:key@...`), and browsers follow such links.
      if (fromOtherSite) {
        throw badRequest('This cannot be started from another site: open the address in a new window.');
      }
      const provider = await accessProvider(outside.environment, clients.secrets, input.provider);
      const who = { realm, userId, provider: provider.name };
      const { state, secret, seconds } = await beginConsent(outside, clients.vault, who);
      const cookie = setCookie(baseUrl, { name: consentCookie(provider), value: secret, seconds });
      return redirection(consentUrl(provider, completionUrl(baseUrl, provider), state), cookie);
    },
  },
  { secrets: awsSecrets, vault: kmsVault },
);
