import { describe, expect, it } from 'vitest';
import {
  makePasswordLink,
  requestPasswordLink,
  setPasswordByLink,
} from '../../shared/domain/account/password-link.ts';
import { signInWithPassword } from '../../shared/domain/account/sign-in.ts';
import type { Refusal } from '../../shared/kernel/errors.ts';
import type { Queues } from '../../shared/kernel/outside.ts';
import { mayCall, out } from '../support/accounts.ts';
import { tokenIn, withMailbox } from '../support/mailbox.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const noQueues = { send: async () => {} };

const PASSWORD = 'twelve grey herons';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const queues: Queues = { send: async () => {} };

const ask = (realm: TestRealm, email: string, address = '192.0.2.1') =>
  requestPasswordLink(realm.outside, queues, realm.host, { email, address });

const linkFor = ({ outside, realm }: TestRealm, { userId }: Person) =>
  makePasswordLink(outside, realm, userId);

/** Sets the password; the refusal in words. */
const set = (realm: TestRealm, token: string, password = PASSWORD): Promise<string> =>
  setPasswordByLink(realm.outside, realm.host, token, password).then(
    () => 'set',
    (error: Refusal) => `${error.code}: ${error.message}`,
  );

const DEAD = /^BAD_REQUEST: This link does not work/;

describe('a link for a new password', () => {
  it('sets it once, and keeps the keys of the account', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const token = await linkFor(realm, member);
    expect(await set(realm, token)).toBe('set');
    const given = { email: member.email, password: PASSWORD, address: '192.0.2.1', label: 'Laptop' };
    expect(await signInWithPassword(realm.outside, noQueues, realm.host, given)).toMatchObject({
      userId: member.userId,
    });
    expect(await mayCall(realm, member)).toBe(true);
    expect(await set(realm, token)).toMatch(DEAD);
  });

  it('works for one of two concurrent requests', async () => {
    const realm = await newRealm();
    const token = await linkFor(realm, realm.people.member);
    const results = await Promise.all(
      ['twelve grey herons', 'eleven red kites fly'].map((password) =>
        set(realm.container(), token, password),
      ),
    );
    expect(results.filter((result) => result === 'set')).toHaveLength(1);
    expect(results.find((result) => result !== 'set')).toMatch(DEAD);
  });

  it('refuses a weak password, and can be used again', async () => {
    const realm = await newRealm();
    const token = await linkFor(realm, realm.people.member);
    for (const password of ['', 'short', 'password1', 'x'.repeat(10_000)]) {
      expect(await set(realm, token, password)).toMatch(/^BAD_REQUEST: .*password/);
    }
    expect(await set(realm, token)).toBe('set');
  });

  it('expires after a day, and with the account', async () => {
    const realm = await newRealm();
    const { member, moderator, owner } = realm.people;
    const ofDeactivated = await linkFor(realm, moderator);
    await out(realm, owner, moderator);
    expect(await set(realm, ofDeactivated)).toMatch(DEAD);
    const late = await linkFor(realm, member);
    realm.pass(DAY_MS + 1_000);
    expect(await set(realm, late)).toMatch(DEAD);
  });

  it('works in one organization only, and only with its own token', async () => {
    const [realm, other] = [await newRealm(), await newRealm()];
    const token = await linkFor(realm, realm.people.member);
    for (const wrong of [`${token}x`, token.slice(1), '', '\0'])
      expect(await set(realm, wrong)).toMatch(DEAD);
    expect(await set(other, token)).toMatch(DEAD);
  });
});

describe('asking for a new password', () => {
  it('mails a link that works', async () => {
    const realm = await withMailbox(await newRealm());
    const { member } = realm.people;
    await ask(realm, ' Member@Example.com');
    await realm.sendMail();
    expect(realm.mails).toMatchObject([{ to: member.email, subject: 'Your password at Test' }]);
    expect(await set(realm, tokenIn(realm.mails[0]?.text ?? ''))).toBe('set');
  });

  it('gives the same reply for an unknown address and for a bot, but sends no mail', async () => {
    const realm = await withMailbox(await newRealm());
    const before = realm.meter.roundTrips;
    await ask(realm, 'member@example.com');
    const known = realm.meter.roundTrips - before;
    await ask(realm, 'nobody@example.com');
    expect(realm.meter.roundTrips - before).toBe(2 * known);
    await ask(realm, realm.people.bot.email, '192.0.2.2');
    await realm.sendMail();
    expect(realm.mails.map(({ to }) => to)).toEqual(['member@example.com']);
  });

  it('is refused for the third time in an hour, and the sixth in a day, for an account', async () => {
    const realm = await withMailbox(await newRealm());
    const { member } = realm.people;
    // Limits count the hours and days of the clock.
    realm.pass(DAY_MS - (realm.outside.now() % DAY_MS));
    const asked = (i: number) =>
      ask(realm, member.email, `192.0.2.${i}`).then(
        () => 'mailed',
        (error: Refusal) => error.code,
      );
    const said: string[] = [];
    for (let i = 0; i < 9; i++) {
      said.push(await asked(i));
      if (i % 3 === 2) realm.pass(HOUR_MS);
    }
    const twoAnHour = ['mailed', 'mailed', 'RATE_LIMIT_HIT'];
    // The requests that were refused for the hour count for the day too.
    expect(said).toEqual([...twoAnHour, 'mailed', 'mailed', ...Array(4).fill('RATE_LIMIT_HIT')]);
    await realm.sendMail();
    expect(realm.mails).toHaveLength(4);
  });

  it('is refused for the sixth time in a day from a network address, whatever the account', async () => {
    const realm = await withMailbox(await newRealm());
    for (let i = 0; i < 5; i++) await ask(realm, `nobody${i}@example.com`, '198.51.100.1');
    await expect(ask(realm, realm.people.admin.email, '198.51.100.1')).rejects.toThrow(/too many requests/);
    await realm.sendMail();
    expect(realm.mails).toEqual([]);
  });

  it('is refused if the service sends no mail', async () => {
    const realm = await newRealm();
    await expect(ask(realm, realm.people.member.email)).rejects.toThrow(/sends no mail/);
  });
});
