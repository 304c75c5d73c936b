import { describe, expect, it } from 'vitest';
import { handler as getMessage } from '../../functions/messages/get.ts';
import { handler as testWelcome } from '../../functions/realm/testWelcome.ts';
import { mishaps, unheard } from '../support/faults.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

const tried = (realm: TestRealm, as: Person, welcome_message_custom_text: unknown) =>
  realm.call(testWelcome, as, { welcome_message_custom_text });

describe('POST /realm/test_welcome_bot_custom_message (companion facts 4.8)', () => {
  it('sends only the caller the text from the notice bot, and once even if the reply of the store is lost', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const before = await lastNumber(realm);
    for (const container of [realm, realm.container(mishaps({ transact: [unheard] }))]) {
      const { status, body } = await tried(container, admin, ' Nice that *you* are here ');
      expect(status).toBe(200);
      const path = { message_id: body.message_id };
      expect((await realm.call(getMessage, admin, {}, { path })).body.message).toMatchObject({
        type: 'private',
        sender_full_name: 'Notification Bot',
        content: '<p>Nice that <em>you</em> are here</p>',
      });
      expect((await realm.call(getMessage, member, {}, { path })).status).toBe(400);
    }
    expect(await loggedAfter(realm, before)).toHaveLength(2);
  });

  it.each([
    ['a moderator', 'moderator', 'Hello', 'UNAUTHORIZED_PRINCIPAL'],
    ['a blank text', 'owner', ' ', 'BAD_REQUEST'],
    ['no text', 'owner', undefined, 'REQUEST_VARIABLE_MISSING'],
    ['8,001 characters', 'owner', 'x'.repeat(8_001), 'BAD_REQUEST'],
  ] as const)('refuses %s', async (_, as, text, code) => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const { status, body } = await tried(realm, realm.people[as], text);
    expect([status, body.code]).toEqual([400, code]);
    expect(await loggedAfter(realm, before)).toEqual([]);
  });
});
