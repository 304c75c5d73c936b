import { createHook } from 'node:async_hooks';
import { createHash, randomBytes, scryptSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { handler as listKeys } from '../../functions/apiKeys/list.ts';
import { handler as getSettings } from '../../functions/server/getSettings.ts';
import { handler as updateSettings } from '../../functions/settings/update.ts';
import { handler as devFetchApiKey } from '../../functions/signIn/devFetchApiKey.ts';
import { handler as devListUsers } from '../../functions/signIn/devListUsers.ts';
import { handler as fetchApiKey } from '../../functions/signIn/fetchApiKey.ts';
import { handler as createUser } from '../../functions/users/create.ts';
import { passwordCost } from '../../shared/model/user/password.ts';
import { key } from '../../shared/table/keys.ts';
import { answer, mayCall, withKey } from '../support/accounts.ts';
import { givenChangedUser } from '../support/given.ts';
import { sendRaw } from '../support/raw-request.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';

const PASSWORD = 'twelve grey herons';
const WRONG = [401, 'AUTHENTICATION_FAILED'];

/** Gives a user a password, hashed at low cost as an earlier release might have done. */
async function givenPassword({ outside, realm }: TestRealm, person: Person, password = PASSWORD) {
  const salt = randomBytes(16);
  const hash = scryptSync(password, salt, 32, { N: 1024, r: 8, p: 1 }).toString('base64');
  await outside.table.put(key('password', { realm, userId: person.userId }), {
    hash: `scrypt$10$8$1$${salt.toString('base64')}$${hash}`,
    changed: 1,
  });
}

const signIn = (
  realm: TestRealm,
  username: string,
  password: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> => realm.call(fetchApiKey, undefined, { username, password }, { headers });

/** The item that counts the tries from a network address. */
const triesFrom = ({ outside, realm }: TestRealm, address: string) =>
  key('attempts', {
    realm,
    subject: createHash('sha256').update(`sign-in from an address:${address}`).digest('hex'),
    window: Math.floor(outside.now() / 1_800_000),
  });

describe('POST /fetch_api_key', () => {
  it('creates a key for the device, and keeps the others', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenPassword(realm, member);
    const reply = await signIn(realm, 'Member@Example.com', PASSWORD, { 'user-agent': 'ZulipTerminal/0.7' });
    expect(reply.body).toEqual({
      result: 'success',
      msg: '',
      api_key: expect.stringMatching(/^[A-Za-z0-9]{32}$/),
      email: member.email,
      user_id: member.userId,
    });
    const terminal = withKey(member, reply);
    expect(await mayCall(realm, terminal)).toBe(true);
    expect(await mayCall(realm, member)).toBe(true);
    const { body } = await realm.call(listKeys, terminal);
    expect(body.api_keys.map(({ label }: { label: string }) => label)).toEqual([
      'First API key',
      'ZulipTerminal',
    ]);
  });

  it('gives the same reply for a wrong password, an unknown address, and an account without a password', async () => {
    const realm = await newRealm();
    const { member, admin, bot } = realm.people;
    await givenPassword(realm, member);
    const replies = await Promise.all(
      [member.email, 'nobody@example.com', admin.email, bot.email].map((email) =>
        signIn(realm, email, 'wrong'),
      ),
    );
    for (const reply of replies) {
      expect(answer(reply)).toEqual(WRONG);
      expect(reply.body).toEqual(replies[0]?.body);
    }
  });

  it.each([
    ['empty', ''],
    ['of 10,000 characters', 'x'.repeat(10_000)],
    ['of another case', PASSWORD.toUpperCase()],
  ])('refuses a password that is %s as a wrong one', async (_, password) => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenPassword(realm, member);
    expect(answer(await signIn(realm, member.email, password))).toEqual(WRONG);
  });

  it('refuses text with a NUL or invalid UTF-8 as a malformed request, and creates no key', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenPassword(realm, member);
    expect(answer(await signIn(realm, member.email, `${PASSWORD}\0`))).toEqual([400, 'BAD_REQUEST']);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = `username=${member.email}&password=%ff%fe`;
    expect((await sendRaw(realm, fetchApiKey, { headers, body })).status).toBe(400);
    expect((await realm.call(listKeys, member)).body.api_keys).toHaveLength(1);
  });

  it('accepts a password in any Unicode normalization', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenPassword(realm, member, 'gro\u00df und sch\u00f6n'.normalize('NFC'));
    const reply = await signIn(realm, member.email, 'gro\u00df und scho\u0308n');
    expect(reply.status).toBe(200);
  });

  it('refuses a user name that is not an email address', async () => {
    const realm = await newRealm();
    expect(answer(await signIn(realm, 'member', PASSWORD))).toEqual([400, 'BAD_REQUEST']);
  });

  it('reports a deactivated account or organization, but only with the right password', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenPassword(realm, member);
    await givenChangedUser(realm, member, { isActive: false });
    expect(answer(await signIn(realm, member.email, 'wrong'))).toEqual(WRONG);
    expect(answer(await signIn(realm, member.email, PASSWORD))).toEqual([401, 'USER_DEACTIVATED']);
    await realm.outside.table.update(key('realm', { realm: realm.realm }), { set: { deactivated: true } });
    expect(answer(await signIn(realm, member.email, PASSWORD))).toEqual([401, 'REALM_DEACTIVATED']);
  });

  it('locks an account for half an hour after five failed tries, for the right password too', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    await givenPassword(realm, member);
    await givenPassword(realm, admin);
    const replies = await Promise.all(Array.from({ length: 8 }, () => signIn(realm, member.email, 'wrong')));
    expect(replies.map(({ status }) => status).sort()).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    const locked = await signIn(realm, member.email, PASSWORD);
    expect(answer(locked)).toEqual([429, 'RATE_LIMIT_HIT']);
    expect(locked.body['retry-after']).toBeGreaterThan(0);
    expect((await signIn(realm, admin.email, PASSWORD)).status).toBe(200);
    realm.pass(1_800_000);
    expect((await signIn(realm, member.email, PASSWORD)).status).toBe(200);
  });

  it('counts concurrent tries, so that of ten wrong ones at most five are compared', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenPassword(realm, member);
    const tries = Array.from({ length: 10 }, () => signIn(realm.container(), member.email, 'wrong'));
    const statuses = (await Promise.all(tries)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(5).fill(401), ...Array(5).fill(429)]);
    expect(answer(await signIn(realm, member.email, PASSWORD))).toEqual([429, 'RATE_LIMIT_HIT']);
  });

  it('refuses a duplicate field, and creates no key', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenPassword(realm, member);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const password = encodeURIComponent(PASSWORD);
    const body = `username=${member.email}&password=wrong&password=${password}`;
    expect((await sendRaw(realm, fetchApiKey, { headers, body })).status).toBe(400);
    expect((await realm.call(listKeys, member)).body.api_keys).toHaveLength(1);
  });

  it('forgets failed tries after a success', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenPassword(realm, member);
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 4; i++) expect(answer(await signIn(realm, member.email, 'wrong'))).toEqual(WRONG);
      expect((await signIn(realm, member.email, PASSWORD)).status).toBe(200);
    }
  });

  it('locks a network address after twenty tries, however many accounts it tries', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenPassword(realm, member);
    const from = (address: string) => ({ 'x-viewer-address': address });
    expect(answer(await signIn(realm, 'nobody@example.com', 'wrong', from('203.0.113.7')))).toEqual(WRONG);
    // The other nineteen at once: each comparison takes half a second.
    await realm.outside.table.update(triesFrom(realm, '203.0.113.7'), { add: { attempts: 19 } });
    expect(answer(await signIn(realm, member.email, PASSWORD, from('203.0.113.7')))).toEqual([
      429,
      'RATE_LIMIT_HIT',
    ]);
    expect((await signIn(realm, member.email, PASSWORD, from('203.0.113.8'))).status).toBe(200);
  });

  it('computes one hash also for an unknown address and an account without a password', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    await givenPassword(realm, member);
    let derived = 0;
    const hook = createHook({ init: (_, type) => void (type === 'SCRYPTREQUEST' && derived++) }).enable();
    for (const email of [member.email, 'nobody@example.com', admin.email]) {
      derived = 0;
      expect(answer(await signIn(realm, email, 'wrong'))).toEqual(WRONG);
      expect([email, derived]).toEqual([email, 1]);
    }
    hook.disable();
  });

  it('takes three round trips, and the same reads for an unknown address', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenPassword(realm, member);
    const container = realm.container();
    expect((await signIn(container, member.email, PASSWORD)).status).toBe(200);
    expect(container.meter.roundTrips).toBe(3);
    const units: number[] = [];
    for (const email of [member.email, 'nobody@example.com']) {
      container.meter.reset();
      expect(answer(await signIn(container, email, 'wrong'))).toEqual(WRONG);
      units.push(container.meter.readUnits);
    }
    expect(units[1]).toBe(units[0]);
  });
});

describe('a password', () => {
  it('is chosen when the account is created, which returns no key', async () => {
    const realm = (await newRealm()).container((send) => send, { passwordCost });
    const account = { email: 'ada@example.com', full_name: 'Ada Lovelace' };
    const { body } = await realm.call(createUser, realm.people.admin, { ...account, password: PASSWORD });
    expect(body).toEqual({ result: 'success', msg: '', user_id: expect.any(Number) });
    const stored = await realm.outside.table.get('password', { realm: realm.realm, userId: body.user_id });
    expect(stored?.hash).toMatch(/^scrypt\$15\$8\$3\$/);
    expect((await signIn(realm, account.email, PASSWORD)).status).toBe(200);
  });

  it.each([
    ['short', 'Xk2!pq9'],
    ['long', 'x7Q!'.repeat(30)],
    ['common', 'password123'],
    ['made of the name of its owner', 'adalovelace1'],
  ])('is refused if it is too %s, and no account is created', async (_, password) => {
    const realm = await newRealm();
    const account = { email: 'ada@example.com', full_name: 'Ada Lovelace' };
    const reply = await realm.call(createUser, realm.people.admin, { ...account, password });
    expect(answer(reply)).toEqual([400, 'BAD_REQUEST']);
    expect(reply.body.msg).not.toContain(password);
    const at = { realm: realm.realm, email: account.email };
    expect(await realm.outside.table.get('account', at)).toBeUndefined();
  });

  it('can be changed with the old one, and keys still work', { timeout: 60_000 }, async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const change = (passwords: Readonly<Record<string, string>>) =>
      realm.call(updateSettings, member, passwords);
    const [first, second] = [PASSWORD, 'seven slow snails'];
    expect(answer(await change({ new_password: first }))).toEqual([200, undefined]);
    expect(answer(await change({ new_password: second }))).toEqual([400, 'BAD_REQUEST']);
    expect(answer(await change({ new_password: second, old_password: 'wrong' }))).toEqual([
      400,
      'BAD_REQUEST',
    ]);
    expect(answer(await change({ new_password: 'password', old_password: first }))).toEqual([
      400,
      'BAD_REQUEST',
    ]);
    expect(answer(await change({ new_password: second, old_password: first }))).toEqual([200, undefined]);
    expect(answer(await signIn(realm, member.email, first))).toEqual(WRONG);
    expect((await signIn(realm, member.email, second)).status).toBe(200);
    expect(await mayCall(realm, member)).toBe(true);
  });

  it('cannot be guessed with a stolen key', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenPassword(realm, member);
    const guess = (old_password: string) =>
      realm.call(updateSettings, member, { old_password, new_password: 'seven slow snails' });
    for (let i = 0; i < 5; i++) expect(answer(await guess('wrong'))).toEqual([400, 'BAD_REQUEST']);
    expect(answer(await guess(PASSWORD))).toEqual([429, 'RATE_LIMIT_HIT']);
  });
});

describe('signing in without a password', () => {
  const development = { environment: { DEVELOPMENT_SIGN_IN: 'true' } };

  it('works only in the local service', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const parameters = { username: member.email };
    expect(answer(await realm.call(devFetchApiKey, undefined, parameters))).toEqual([400, 'BAD_REQUEST']);
    expect(answer(await realm.call(devListUsers, undefined))).toEqual([400, 'BAD_REQUEST']);
    expect((await realm.call(getSettings, undefined)).body.authentication_methods.dev).toBe(false);
  });

  it('lists the users of the organization, and gives each a key', async () => {
    const realm = await newRealm();
    const { owner, admin, moderator, member, guest } = realm.people;
    const local = realm.container(undefined, development);
    const { body } = await local.call(devListUsers, undefined);
    const listed = (people: readonly Person[]) =>
      people.map(({ email }) => ({ email, realm_url: `http://${realm.host}` }));
    expect(body.direct_admins).toEqual(listed([owner, admin]));
    expect(body.direct_users).toEqual(listed([moderator, member, guest]));
    const reply = await local.call(devFetchApiKey, undefined, { username: guest.email });
    expect(await mayCall(realm, withKey(guest, reply))).toBe(true);
    expect((await local.call(getSettings, undefined)).body.authentication_methods.dev).toBe(true);
  });

  it('is refused for bots, deactivated users and unknown addresses', async () => {
    const realm = await newRealm();
    const { bot, member } = realm.people;
    const local = realm.container(undefined, development);
    const ask = (username: string) => local.call(devFetchApiKey, undefined, { username });
    expect(answer(await ask(bot.email))).toEqual(WRONG);
    expect(answer(await ask('nobody@example.com'))).toEqual(WRONG);
    await givenChangedUser(realm, member, { isActive: false });
    expect(answer(await ask(member.email))).toEqual([401, 'USER_DEACTIVATED']);
  });
});
