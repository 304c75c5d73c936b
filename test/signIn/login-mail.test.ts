import { expect, it } from 'vitest';
import { handler as fetchApiKey } from '../../functions/signIn/fetchApiKey.ts';
import { handler as regenerate } from '../../functions/users/regenerateKey.ts';
import { addDeviceKey } from '../../shared/domain/account/device-key.ts';
import { hashPassword } from '../../shared/model/user/password.ts';
import { key } from '../../shared/table/keys.ts';
import { givenSettings } from '../support/given.ts';
import { withMailbox } from '../support/mailbox.ts';
import { leftIn } from '../support/outbox.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

const PASSWORD = 'twelve grey herons';

const headers = { 'user-agent': 'ZulipTerminal/0.7' };

async function signIn<R extends TestRealm>(realm: R, wants: boolean): Promise<R> {
  const { member } = realm.people;
  await givenSettings(realm, member, { enable_login_emails: wants });
  const password = { hash: await hashPassword(PASSWORD), changed: 1 };
  await realm.outside.table.put(key('password', { realm: realm.realm, userId: member.userId }), password);
  const given = { username: member.email, password: PASSWORD };
  expect((await realm.call(fetchApiKey, undefined, given, { headers })).status).toBe(200);
  return realm;
}

it('somebody who wants it gets a mail about a new sign-in, with the device and no key', async () => {
  const realm = await signIn(await withMailbox(await newRealm()), true);
  await realm.sendMail();
  expect(realm.mails).toMatchObject([{ to: 'member@example.com', subject: 'New sign-in at Test' }]);
  expect(realm.mails[0]?.text).toContain('Device: ZulipTerminal.');
  expect(realm.mails[0]?.text).toContain(`https://${realm.host}/account`);
  expect(await leftIn(realm)).toEqual([]);
});

it('any other sign-in that makes a key for a device sends one too, once', async () => {
  const realm = await withMailbox(await newRealm());
  const { member } = realm.people;
  await givenSettings(realm, member, { enable_login_emails: true });
  const person = { ...member, realm: realm.realm, account: undefined };
  const queues = { send: async () => {} };
  await addDeviceKey(realm.outside, queues, person, 'Firefox on Linux');
  await realm.sendMail();
  await realm.sendMail();
  expect(realm.mails.map(({ text }) => text.includes('Device: Firefox on Linux.'))).toEqual([true]);
});

it('nobody gets one who does not want it, where no mail is sent, or for a key that is regenerated', async () => {
  const realm = await signIn(await withMailbox(await newRealm()), false);
  await signIn(await newRealm(), true);
  await givenSettings(realm, realm.people.member, { enable_login_emails: true });
  expect((await realm.call(regenerate, realm.people.member)).status).toBe(200);
  expect(await leftIn(realm)).toEqual([]);
  await realm.sendMail();
  expect(realm.mails).toEqual([]);
});
