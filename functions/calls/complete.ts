import { awsSecrets } from '../../shared/adapters/secrets.ts';
import { kmsVault } from '../../shared/adapters/vault.ts';
import { consentCookie, openCallState, useCallState } from '../../shared/domain/calls/consent.ts';
import { accessProvider, completionUrl } from '../../shared/domain/calls/provider.ts';
import { exchangeCode } from '../../shared/domain/calls/provider-api.ts';
import { storeToken } from '../../shared/domain/calls/token.ts';
import { completeCalls } from '../../shared/endpoints/calls.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import { readCookie, setCookie } from '../../shared/serve/cookie.ts';
import { page } from '../../shared/serve/reply.ts';
import { serveAnyone } from '../../shared/serve/serve.ts';

/** The page after a successful consent. Some browsers do not let a page close itself, so it has a text. */
const DONE =
  `<!doctype html><meta charset="utf-8"><title>Video calls</title>` +
  `<p>You can make video calls now, and close this window.</p><script>window.close()</script>`;

/*
 * The state is used up before the code is exchanged, so that a repeated request is refused. If the function dies between
 * the two, the user has to give the consent again.
 */
export const handler = serveAnyone(
  completeCalls,
  async ({ input, baseUrl, cookies, outside, clients }) => {
    const provider = await accessProvider(outside.environment, clients.secrets, input.provider);
    const name = consentCookie(provider);
    const secret = readCookie(baseUrl, cookies, name);
    const state = await openCallState(outside, clients.vault, input.state, provider.name, secret);
    const { realm, userId } = state;
    const [user] = await Promise.all([
      outside.table.get('user', { realm, userId }),
      useCallState(outside, state),
    ]);
    if (input.code === undefined) throw badRequest('The consent was not given.');
    if (!user?.isActive) throw badRequest('The account of this consent is not active.');
    const token = await exchangeCode(provider, completionUrl(baseUrl, provider), input.code, outside.now());
    await storeToken(outside, clients.vault, { realm, userId, provider }, token);
    return page(DONE, setCookie(baseUrl, { name, value: '', seconds: 0 }));
  },
  { secrets: awsSecrets, vault: kmsVault },
);
