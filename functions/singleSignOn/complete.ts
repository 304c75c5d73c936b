import { sqsQueues } from '../../shared/adapters/queues.ts';
import { awsSecrets } from '../../shared/adapters/secrets.ts';
import { joinInvited } from '../../shared/domain/account/join.ts';
import { ATTEMPT_COOKIE, useAttempt } from '../../shared/domain/single-sign-on/attempt.ts';
import { accessPerson, checkIdentity, type Join } from '../../shared/domain/single-sign-on/person.ts';
import {
  accessProvider,
  completionUrl,
  newProviderMemory,
} from '../../shared/domain/single-sign-on/provider.ts';
import { loadClaims } from '../../shared/domain/single-sign-on/provider-api.ts';
import { completeSingleSignOn } from '../../shared/endpoints/single-sign-on.ts';
import { accessHost } from '../../shared/model/realm/hosts.ts';
import { NO_KEY } from '../../shared/model/user/caller.ts';
import { readCookie } from '../../shared/serve/cookie.ts';
import { servePageToAnyone } from '../../shared/serve/page.ts';
import { signedIn } from '../../shared/serve/signed-in.ts';

/*
 * The attempt is used up before the code is exchanged: a request that is sent again does nothing. Somebody whose sign-in
 * is lost between the two begins again.
 */
export const handler = servePageToAnyone(
  completeSingleSignOn,
  async ({ input, host, baseUrl, cookies, userAgent, outside, clients }) => {
    const [provider, { realm }] = await Promise.all([
      accessProvider(outside.environment, clients.secrets),
      accessHost(outside, host),
    ]);
    const cookie = readCookie(baseUrl, cookies, ATTEMPT_COOKIE);
    const { purpose, nonce, verifier } = await useAttempt(outside, realm, input.state, cookie);
    const claims = await loadClaims(
      { outside, provider, memory: clients.memory },
      { parameters: input, state: input.state, nonce, verifier, redirectUri: completionUrl(baseUrl) },
    );
    const token = purpose.kind === 'browser' ? purpose.invitation : undefined;
    const join: Join = ({ email, name }) =>
      joinInvited(
        outside,
        clients.queues,
        host,
        token ?? '',
        { email, fullName: name },
        { keyDigest: NO_KEY },
      );
    const person = await accessPerson(
      outside,
      realm,
      checkIdentity(claims),
      token === undefined ? undefined : join,
    );
    return signedIn({ baseUrl, userAgent, outside, clients, realm }, person, purpose);
  },
  { secrets: awsSecrets, queues: sqsQueues, memory: newProviderMemory },
);
