import { expect, it } from 'vitest';
import { handler as showSignIn } from '../../functions/pages/showSignIn.ts';
import { handler as signInOnPage } from '../../functions/pages/signIn.ts';
import { handler as fetchApiKey } from '../../functions/signIn/fetchApiKey.ts';
import { handler as useLoginToken } from '../../functions/singleSignOn/useLoginToken.ts';
import { handler as regenerate } from '../../functions/users/regenerateKey.ts';
import { newLoginToken } from '../../shared/domain/single-sign-on/login-token.ts';
import { hashPassword } from '../../shared/model/user/password.ts';
import { key } from '../../shared/table/keys.ts';
import { Browser } from '../support/browser.ts';
import { givenSettings } from '../support/given.ts';
import { withMailbox } from '../support/mailbox.ts';
import { leftIn } from '../support/outbox.ts';
import { CHEAP, newRealm, type TestRealm } from '../support/realm.ts';

const PASSWORD = 'twelve grey herons';

const headers = { 'user-agent': 'ZulipTerminal/0.7' };

async function signIn<R extends TestRealm>(realm: R, wants: boolean): Promise<R> {
  const { member } = realm.people;
  await givenSettings(realm, member, { enable_login_emails: wants });
  const password = { hash: await hashPassword(PASSWORD, CHEAP), changed: 1 };
  await realm.outside.table.put(key('password', { realm: realm.realm, userId: member.userId }), password);
  const given = { username: member.email, password: PASSWORD };
  expect((await realm.call(fetchApiKey, undefined, given, { headers })).status).toBe(200);
  return realm;
}

it('a user gets a mail about a new sign-in, with the device and without the key', async () => {
  const realm = await signIn(await withMailbox(await newRealm()), true);
  await realm.sendMail();
  expect(realm.mails).toMatchObject([{ to: 'member@example.com', subject: 'New sign-in at Test' }]);
  expect(realm.mails[0]?.text).toContain('Device: ZulipTerminal.');
  expect(realm.mails[0]?.text).toContain(`https://${realm.host}/account`);
  expect(await leftIn(realm)).toEqual([]);
});

it('sign-ins on the page and by a login token send one mail each', async () => {
  const realm = await signIn(await withMailbox(await newRealm()), true);
  const { email } = realm.people.member;
  const browser = new Browser(realm);
  const page = await browser.open(showSignIn);
  const fields = { email, password: PASSWORD };
  expect((await browser.submit(signInOnPage, page, fields)).status).toBe(303);
  const token = await newLoginToken(realm.outside, realm.realm, email);
  expect((await browser.open(useLoginToken, { path: { token } })).status).toBe(303);
  await realm.sendMail();
  await realm.sendMail();
  expect(realm.mails.map(({ subject }) => subject)).toEqual(Array(3).fill('New sign-in at Test'));
});

it('no mail is sent if the user turned it off, the service sends no mail, or the key is regenerated', async () => {
  const realm = await signIn(await withMailbox(await newRealm()), false);
  await signIn(await newRealm(), true);
  await givenSettings(realm, realm.people.member, { enable_login_emails: true });
  expect((await realm.call(regenerate, realm.people.member)).status).toBe(200);
  expect(await leftIn(realm)).toEqual([]);
  await realm.sendMail();
  expect(realm.mails).toEqual([]);
});
