import { sqsQueues } from '../../shared/adapters/queues.ts';
import { awsSecrets } from '../../shared/adapters/secrets.ts';
import { addDeviceKey } from '../../shared/domain/account/device-key.ts';
import { deviceName } from '../../shared/domain/account/device-name.ts';
import { joinInvited } from '../../shared/domain/account/join.ts';
import { ATTEMPT_COOKIE, useAttempt } from '../../shared/domain/single-sign-on/attempt.ts';
import { newLoginToken } from '../../shared/domain/single-sign-on/login-token.ts';
import { encryptText, mobileAddress } from '../../shared/domain/single-sign-on/pad.ts';
import { accessPerson, checkIdentity, type Join } from '../../shared/domain/single-sign-on/person.ts';
import {
  accessProvider,
  completionUrl,
  newProviderMemory,
} from '../../shared/domain/single-sign-on/provider.ts';
import { loadClaims } from '../../shared/domain/single-sign-on/provider-api.ts';
import { completeSingleSignOn } from '../../shared/endpoints/single-sign-on.ts';
import { accessHost } from '../../shared/model/realm/hosts.ts';
import { NO_KEY } from '../../shared/model/user/api-key.ts';
import { desktopPage } from '../../shared/pages/desktop.ts';
import { readCookie, setCookie } from '../../shared/serve/cookie.ts';
import { seeOther, servePageToAnyone, showPage } from '../../shared/serve/page.ts';
import { redirection } from '../../shared/serve/reply.ts';
import { beginSession } from '../../shared/serve/session.ts';

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
    const { email } = person;
    const newKey = (label: string): Promise<string> => addDeviceKey(outside, clients.queues, person, label);
    if (purpose.kind === 'browser') {
      const session = beginSession(baseUrl, email, await newKey(deviceName(userAgent)));
      return seeOther(baseUrl, purpose.next, session);
    }
    // The cookie holds the pad.
    const forget = setCookie(baseUrl, { name: ATTEMPT_COOKIE, value: '', seconds: 0 });
    if (purpose.kind === 'mobile') {
      const phone = { ...person, apiKey: await newKey('Zulip mobile') };
      return redirection(mobileAddress(phone, purpose.pad, baseUrl), forget);
    }
    const login = await newLoginToken(outside, realm, email);
    return showPage(desktopPage(encryptText(outside, login, purpose.pad)), 200, forget);
  },
  { secrets: awsSecrets, queues: sqsQueues, memory: newProviderMemory },
);
