import { awsSecrets } from '../../shared/adapters/secrets.ts';
import { ATTEMPT_COOKIE, beginAttempt } from '../../shared/domain/single-sign-on/attempt.ts';
import {
  accessProvider,
  completionUrl,
  newProviderMemory,
} from '../../shared/domain/single-sign-on/provider.ts';
import { signInUrl } from '../../shared/domain/single-sign-on/provider-api.ts';
import { checkPurpose } from '../../shared/domain/single-sign-on/purpose.ts';
import { beginSingleSignOn } from '../../shared/endpoints/single-sign-on.ts';
import { accessHost } from '../../shared/model/realm/hosts.ts';
import { setCookie } from '../../shared/serve/cookie.ts';
import { ownPath, servePageToAnyone } from '../../shared/serve/page.ts';
import { redirection } from '../../shared/serve/reply.ts';

export const handler = servePageToAnyone(
  beginSingleSignOn,
  async ({ input, host, baseUrl, outside, clients }) => {
    const { mobile_flow_otp: mobile, desktop_flow_otp: desktop, invitation } = input;
    const next = ownPath(input.next) ?? '/account';
    const purpose = checkPurpose(mobile, desktop, { next, invitation });
    const [provider, { realm }] = await Promise.all([
      accessProvider(outside.environment, clients.secrets),
      accessHost(outside, host),
    ]);
    const { cookie, seconds, ...attempt } = await beginAttempt(outside, realm, purpose);
    const asking = { outside, provider, memory: clients.memory };
    const url = await signInUrl(asking, { ...attempt, redirectUri: completionUrl(baseUrl) });
    return redirection(url, setCookie(baseUrl, { name: ATTEMPT_COOKIE, value: cookie, seconds }));
  },
  { secrets: awsSecrets, memory: newProviderMemory },
);
