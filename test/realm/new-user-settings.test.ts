import { describe, expect, it } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as getPresence } from '../../functions/presence/get.ts';
import { handler as updatePresence } from '../../functions/presence/update.ts';
import { handler as update } from '../../functions/realm/updateNewUserSettings.ts';
import { handler as create } from '../../functions/users/create.ts';
import { personIn } from '../support/accounts.ts';
import { givenClient } from '../support/event-queue.ts';
import { meanwhile, mishaps, unheard } from '../support/faults.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

const EMAIL = 'ada@example.com';

const stateOf = async (realm: TestRealm, as: Person) => {
  const client_capabilities = { user_settings_object: true };
  const types = ['user_settings', 'realm_user_settings_defaults'];
  return (await realm.call(register, as, { fetch_event_types: types, client_capabilities })).body;
};

describe('PATCH /realm/user_settings_defaults (companion facts 4.3)', () => {
  it('changes the defaults of new accounts, not of existing ones, with one event for each change', async () => {
    const realm = await newRealm();
    const { admin, guest, member } = realm.people;
    const client = await givenClient(realm, guest);
    const asked = {
      color_scheme: 2,
      emojiset: 'google',
      web_home_view: 'recent',
      twenty_four_hour_time: null,
    };
    const { body } = await realm.call(update, admin, { ...asked, timezone: 'Asia/Tokyo', dense_mode: true });
    expect(body.ignored_parameters_unsupported).toEqual(['dense_mode', 'timezone']);
    const event = { type: 'realm_user_settings_defaults', op: 'update', id: expect.any(Number) };
    const changes = { color_scheme: 2, web_home_view: 'recent', twenty_four_hour_time: null };
    expect(await client.poll()).toEqual(
      expect.arrayContaining(
        Object.entries(changes).map(([property, value]) => ({ ...event, property, value })),
      ),
    );
    const before = await lastNumber(realm);
    expect((await realm.call(update, admin, asked)).status).toBe(200);
    expect(await loggedAfter(realm, before)).toEqual([]);
    const ada = personIn(await realm.call(create, admin, { email: EMAIL, full_name: 'Ada' }), EMAIL);
    const state = await stateOf(realm, ada);
    expect(state.user_settings).toMatchObject(changes);
    expect(state.realm_user_settings_defaults).toMatchObject(changes);
    expect((await stateOf(realm, member)).user_settings).toMatchObject({
      color_scheme: 1,
      web_home_view: 'inbox',
      twenty_four_hour_time: false,
    });
  });

  it('goes back to the default of the service', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    for (const color_scheme of [2, 1]) await realm.call(update, admin, { color_scheme });
    const ada = personIn(await realm.call(create, admin, { email: EMAIL, full_name: 'Ada' }), EMAIL);
    const { user_settings, realm_user_settings_defaults } = await stateOf(realm, ada);
    expect([user_settings.color_scheme, realm_user_settings_defaults.color_scheme]).toEqual([1, 1]);
  });

  it('can hide the presence of new users from the start', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    await realm.call(update, admin, { presence_enabled: false });
    const reply = await realm.call(create, admin, { email: EMAIL, full_name: 'Ada' });
    const ping = { status: 'active', ping_only: true };
    expect((await realm.call(updatePresence, personIn(reply, EMAIL), ping)).status).toBe(200);
    const path = { user: String(reply.body.user_id) };
    expect((await realm.call(getPresence, admin, {}, { path })).body.code).toBe('BAD_REQUEST');
  });

  it.each([
    ['a moderator', 'moderator', { color_scheme: 2 }, 'UNAUTHORIZED_PRINCIPAL'],
    ['a number out of range', 'owner', { color_scheme: 9 }, 'BAD_REQUEST'],
    ['another sound', 'owner', { notification_sound: 'gong' }, 'BAD_REQUEST'],
    ['a hidden address', 'owner', { enter_sends: false, email_address_visibility: 4 }, 'BAD_REQUEST'],
  ] as const)('%s is refused, and nothing changes', async (_, as, given, code) => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const { status, body } = await realm.call(update, realm.people[as], given);
    expect([status, body.code]).toEqual([400, code]);
    expect(await loggedAfter(realm, before)).toEqual([]);
  });

  it('keeps both of two concurrent changes, and sends one event for a change whose reply was lost', async () => {
    const realm = await newRealm();
    const { admin, owner } = realm.people;
    const slow = realm.container(meanwhile(() => realm.call(update, owner, { color_scheme: 3 })));
    expect((await slow.call(update, admin, { enter_sends: false, color_scheme: 2 })).status).toBe(200);
    expect((await stateOf(realm, admin)).realm_user_settings_defaults).toMatchObject({
      enter_sends: false,
      color_scheme: 2,
    });
    const before = await lastNumber(realm);
    const deaf = realm.container(mishaps({ transact: [unheard] }));
    expect((await deaf.call(update, admin, { web_font_size_px: 20 })).status).toBe(200);
    expect(await loggedAfter(realm, before)).toHaveLength(1);
  });
});
