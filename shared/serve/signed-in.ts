import { addDeviceKey, type Proven } from '../domain/account/device-key.ts';
import { deviceName } from '../domain/account/device-name.ts';
import { ATTEMPT_COOKIE } from '../domain/single-sign-on/attempt.ts';
import { newLoginToken } from '../domain/single-sign-on/login-token.ts';
import { encryptText, mobileAddress } from '../domain/single-sign-on/pad.ts';
import type { Purpose } from '../domain/single-sign-on/purpose.ts';
import type { Outside, Queues } from '../kernel/outside.ts';
import { desktopPage } from '../pages/desktop.ts';
import { setCookie } from './cookie.ts';
import { seeOther, showPage } from './page.ts';
import { redirection } from './reply.ts';
import { beginSession } from './session.ts';

/** The request of somebody whose provider says who they are. */
interface Answered {
  readonly baseUrl: string;
  readonly userAgent: string | undefined;
  readonly outside: Outside;
  readonly clients: { readonly queues: Queues };
  readonly realm: string;
}

/**
 * Signs somebody in whose provider has said who they are, where they began: in this browser, in a phone, or in a program
 * on the desktop (companion facts 3.14).
 */
export async function signedIn(
  { baseUrl, userAgent, outside, clients, realm }: Answered,
  person: Proven,
  purpose: Purpose,
) {
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
}
