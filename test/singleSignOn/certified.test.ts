import { afterEach, expect, it } from 'vitest';
import { mayCall } from '../support/accounts.ts';
import {
  type CertifiedProvider,
  signInThere,
  startCertifiedProvider,
} from '../support/certified-provider.ts';
import { newRealm } from '../support/realm.ts';
import { begun, comeBack, newPad, readMobile, withProvider } from '../support/single-sign-on.ts';

let provider: CertifiedProvider | undefined;
afterEach(() => provider?.stop());

it('users can sign in with a certified OpenID Connect provider, in a browser and on a phone', async () => {
  const made = await newRealm();
  const redirectUri = `https://${made.host}/complete/oidc`;
  provider = await startCertifiedProvider(redirectUri);
  const realm = withProvider(made, provider.issuer);

  const { browser, url } = await begun(realm);
  const reply = await comeBack(browser, await signInThere(url, 'member', redirectUri));
  expect([reply.status, reply.headers.Location], JSON.stringify(realm.reports)).toEqual([303, '/account']);

  const pad = newPad();
  const phone = await begun(realm, { mobile_flow_otp: pad });
  const back = await comeBack(phone.browser, await signInThere(phone.url, 'guest', redirectUri));
  const { apiKey } = readMobile(back, pad);
  expect(await mayCall(realm, { ...realm.people.guest, apiKey })).toBe(true);

  const stranger = await begun(realm);
  const refused = await comeBack(stranger.browser, await signInThere(stranger.url, 'nobody', redirectUri));
  expect([refused.status, refused.text]).toEqual([
    400,
    expect.stringContaining('Open the link of your invitation'),
  ]);
});
