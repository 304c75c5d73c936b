import { describe, expect, it } from 'vitest';
import { handler as ping } from '../../functions/presence/update.ts';
import { handler as update } from '../../functions/settings/update.ts';
import { handler as getUser } from '../../functions/users/get.ts';
import { updateSettings } from '../../shared/endpoints/settings.ts';
import { folded } from '../../shared/kernel/text.ts';
import { defaultUserSettings } from '../../shared/model/user/user.ts';
import { answer } from '../support/accounts.ts';
import { givenClient } from '../support/event-queue.ts';
import { lost, mishaps, unheard } from '../support/faults.ts';
import { givenRealmSettings } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import { told } from '../support/subscription-state.ts';

const set = (realm: TestRealm, as: Person, parameters: object) =>
  realm.call(update, as, parameters as Record<string, unknown>);

const registered = async (realm: TestRealm, person: Person, types = ['user_settings', 'realm_user']) =>
  (await givenClient(realm, person, { fetch_event_types: types })).state;

const settingsOf = async (realm: TestRealm, person: Person) =>
  (await registered(realm, person)).user_settings;

const bearers = async ({ outside, realm }: TestRealm, name: string): Promise<number[]> => {
  const item = await outside.table.get('fullName', { realm, name: folded(name) });
  return [...(item?.users ?? [])];
};

describe('PATCH /settings', () => {
  it('accepts every setting that /register returns, except the options of two of them', () => {
    const fixed = ['available_notification_sounds', 'emojiset_choices'];
    const known = Object.keys(updateSettings.parameters);
    expect(Object.keys(defaultUserSettings).filter((name) => !known.includes(name))).toEqual(fixed);
  });

  it('changes all given settings, with events only for the clients of the caller (wire facts 3.10, 14)', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const wanted = {
      automatically_follow_topics_policy: 1,
      automatically_unmute_topics_in_muted_streams_policy: 4,
      automatically_follow_topics_where_mentioned: false,
      send_read_receipts: false,
      web_home_view: 'recent',
      twenty_four_hour_time: null,
    };
    const [own, other] = [await givenClient(realm, member), await givenClient(realm, admin)];
    const { status, body } = await set(realm, member, wanted);
    expect([status, body]).toEqual([200, { result: 'success', msg: '' }]);
    expect(await settingsOf(realm, member)).toEqual({ ...defaultUserSettings, ...wanted });
    const events = await own.poll();
    expect(Object.fromEntries(events.map(({ property, value }) => [property, value]))).toEqual(wanted);
    for (const event of events) {
      expect(event).toEqual({
        id: expect.any(Number),
        type: 'user_settings',
        op: 'update',
        property: expect.any(String),
        value: wanted[event.property as keyof typeof wanted],
      });
    }
    expect(await other.poll()).toEqual([]);
    expect(await settingsOf(realm, admin)).toEqual(defaultUserSettings);
  });

  it('sends events that turn the state before into the state after', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const client = await givenClient(realm, member, { fetch_event_types: ['user_settings'] });
    const state = client.state.user_settings;
    await set(realm, member, { enter_sends: true, color_scheme: 2, timezone: 'Europe/Berlin' });
    await set(realm, member, { enter_sends: false, default_language: 'de' });
    for (const { type, property, value } of await client.poll()) {
      if (type === 'user_settings') state[property] = value;
    }
    expect(state).toEqual(await settingsOf(realm, member));
    expect(state).toMatchObject({ enter_sends: false, color_scheme: 2, timezone: 'Europe/Berlin' });
  });

  it('sends no event for values that stay the same, and lists unknown parameters (wire facts 1.1)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const before = await lastNumber(realm);
    const parameters = { enter_sends: false, color_scheme: 1, dense_mode: true, zoom: 'x' };
    const { body } = await set(realm, member, parameters);
    expect(body).toMatchObject({ ignored_parameters_unsupported: ['dense_mode', 'zoom'] });
    expect(await told(realm, before)).toEqual([]);
    expect((await set(realm, member, {})).status).toBe(200);
  });

  it('sends administrators an event when a user consents to exports (wire facts 10)', async () => {
    const realm = await newRealm();
    const { member, owner, moderator } = realm.people;
    const [above, beside] = [await givenClient(realm, owner), await givenClient(realm, moderator)];
    await set(realm, member, { allow_private_data_export: true });
    expect(await above.poll()).toMatchObject([
      { type: 'realm_export_consent', user_id: member.userId, consented: true },
    ]);
    expect(await beside.poll()).toEqual([]);
  });

  it('returns the name of the language', async () => {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member);
    await set(realm, realm.people.member, { default_language: 'de' });
    expect(await client.poll()).toMatchObject([
      { property: 'default_language', value: 'de', language_name: 'Deutsch' },
    ]);
  });

  it('sends everybody the time zone of a user', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const client = await givenClient(realm, guest);
    await set(realm, member, { timezone: 'Asia/Tokyo' });
    expect(await client.poll()).toMatchObject([
      { type: 'realm_user', op: 'update', person: { user_id: member.userId, timezone: 'Asia/Tokyo' } },
    ]);
    const { body } = await realm.call(getUser, guest, {}, { path: { user: member.userId } });
    expect(body.user.timezone).toBe('Asia/Tokyo');
  });

  it.each<[string, Record<string, unknown>]>([
    ['a word for a boolean', { enter_sends: '"true"' }],
    ['null for a boolean', { enter_sends: null }],
    ['a policy that does not exist', { automatically_follow_topics_policy: 5 }],
    ['a policy below the first one', { automatically_unmute_topics_in_muted_streams_policy: 0 }],
    ['half a number', { color_scheme: 1.5 }],
    ['a scheme that does not exist', { color_scheme: 4 }],
    ['no time at all to batch mail in', { email_notifications_batching_period_seconds: 0 }],
    ['more than a week to batch mail in', { email_notifications_batching_period_seconds: 604_801 }],
    ['a sound that nobody has', { notification_sound: 'gong' }],
    ['a view that does not exist', { web_home_view: 'recent_topics' }],
    ['a set of emoji that does not exist', { emojiset: 'apple' }],
    ['a language that nobody speaks', { default_language: 'zzz' }],
    ['no language', { default_language: '' }],
    ['a language with too long a code', { default_language: `en-${'abcdefgh-'.repeat(9)}x-y` }],
    ['a language that is none', { default_language: 'not a code' }],
    ['a time zone that is nowhere', { timezone: 'Mars/Olympus' }],
    ['a time zone that is an offset', { timezone: '+01:00' }],
    ['a size of letters that nobody can read', { web_font_size_px: 1 }],
    ['an empty name', { full_name: '  ' }],
    ['a name that mentions use', { full_name: 'all|15' }],
    ['an address that others should not see, since all do', { email_address_visibility: 3 }],
    ['another address', { email: 'other@example.com' }],
    ['a password', { new_password: 'secret' }],
    ['settings of others', { target_users: { user_ids: [1], skip_if_already_edited: false } }],
  ])('refuses %s, and changes nothing else either', async (_, parameters) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const before = await lastNumber(realm);
    const reply = await set(realm, member, {
      enter_sends: true,
      starred_message_counts: false,
      ...parameters,
    });
    expect(answer(reply)).toEqual([400, 'BAD_REQUEST']);
    expect(await told(realm, before)).toEqual([]);
    expect(await settingsOf(realm, member)).toEqual(defaultUserSettings);
  });

  it('refuses bots', async () => {
    const realm = await newRealm();
    expect(answer(await set(realm, realm.people.bot, { enter_sends: true }))).toEqual([400, 'BAD_REQUEST']);
    expect(answer(await realm.call(update, undefined, {}))).toEqual([401, 'UNAUTHORIZED']);
    expect((await set(realm, realm.people.guest, { enter_sends: true })).status).toBe(200);
  });

  it('keeps both of two concurrent changes', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const changes = [{ enter_sends: true }, { color_scheme: 3 }, { hide_ai_features: true }];
    const replies = await Promise.all(changes.map((change) => set(realm.container(), member, change)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await settingsOf(realm, member)).toMatchObject(Object.assign({}, ...changes));
  });

  it('stores the value of the last event after concurrent changes of one setting', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    for (let round = 0; round < 3; round++) {
      const before = await lastNumber(realm);
      await Promise.all(
        [20, 30, 40, 50].map((web_font_size_px) => set(realm.container(), member, { web_font_size_px })),
      );
      const events = await told(realm, before);
      const stored = (await settingsOf(realm, member)).web_font_size_px;
      const last = events.at(-1);
      if (last) expect(last.payload.value).toBe(stored);
    }
  });

  it.each([
    ['is lost', lost],
    ['works unheard', unheard],
  ])('happens once when the first try %s', async (_, mishap) => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const container = realm.container(mishaps({ transact: [mishap] }));
    expect((await set(container, realm.people.member, { enter_sends: true })).status).toBe(200);
    expect(await told(realm, before)).toHaveLength(1);
  });

  it('takes 3 round trips cold and 2 warm, with every setting at once', async () => {
    const realm = await newRealm();
    const container = realm.container();
    await set(container, realm.people.member, { enter_sends: true });
    expect(container.meter.roundTrips).toBe(3);
    container.meter.reset();
    const flags = Object.entries(defaultUserSettings).filter(([, value]) => typeof value === 'boolean');
    const turned = Object.fromEntries(flags.map(([name, value]) => [name, name !== 'enter_sends' && !value]));
    await set(container, realm.people.member, { ...turned, full_name: 'Another', timezone: 'Asia/Tokyo' });
    expect(container.meter.roundTrips).toBe(2);
  });
});

describe('the name of the caller', () => {
  it('changes for everybody, and mentions find it', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const client = await givenClient(realm, guest);
    const old = (await registered(realm, member)).full_name;
    expect((await set(realm, member, { full_name: '  Ada Lovelace ' })).status).toBe(200);
    expect(await client.poll()).toMatchObject([
      { type: 'realm_user', op: 'update', person: { user_id: member.userId, full_name: 'Ada Lovelace' } },
    ]);
    expect((await registered(realm, member)).full_name).toBe('Ada Lovelace');
    expect(await bearers(realm, 'ada lovelace')).toEqual([member.userId]);
    expect(await bearers(realm, old)).toEqual([]);
    await set(realm, member, { full_name: 'ADA Lovelace' });
    expect(await bearers(realm, 'ada lovelace')).toEqual([member.userId]);
  });

  it('is the last of two concurrent changes in mentions too', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const old = (await registered(realm, member)).full_name;
    const names = ['Ada', 'Bea', 'Cleo'];
    const replies = await Promise.all(
      names.map((full_name) => set(realm.container(), member, { full_name })),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    const name = (await registered(realm, member)).full_name;
    for (const each of [old, ...names]) {
      expect(await bearers(realm, each), each).toEqual(each === name ? [member.userId] : []);
    }
  });

  it('cannot be changed if the organization turned that off, except by administrators', async () => {
    const realm = await newRealm();
    await givenRealmSettings(realm, { name_changes_disabled: true });
    const { member, admin } = realm.people;
    expect(answer(await set(realm, member, { full_name: 'Ada' }))).toEqual([400, 'BAD_REQUEST']);
    expect((await set(realm, admin, { full_name: 'Ada' })).status).toBe(200);
  });
});

describe("hiding one's presence", () => {
  const seen = async (realm: TestRealm, by: Person, whom: Person) => {
    const { body } = await realm.call(ping, by, { status: 'idle', last_update_id: -1 });
    return body.presences[whom.userId];
  };
  const here = (realm: TestRealm, person: Person) => realm.call(ping, person, { status: 'active' });
  const offline = (realm: TestRealm) => Math.floor(realm.outside.now() / 1000) - 200;

  it('shows the user as offline at once, and stays in effect while they ping', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const joined = Math.floor(realm.outside.now() / 1000);
    realm.pass(24 * 60 * 60_000);
    await here(realm, member);
    await set(realm, member, { presence_enabled: false });
    for (const minutes of [0, 1, 6, 20]) {
      realm.pass(minutes * 60_000);
      await here(realm, member);
      const { active_timestamp, idle_timestamp } = await seen(realm, admin, member);
      expect(active_timestamp).toBeCloseTo(joined, -1);
      expect(idle_timestamp).toBeLessThan(offline(realm));
    }
    await set(realm, member, { presence_enabled: true });
    expect((await seen(realm, admin, member)).active_timestamp).toBeGreaterThan(offline(realm));
    realm.pass(6 * 60_000);
    await here(realm, member);
    expect((await seen(realm, admin, member)).active_timestamp).toBeGreaterThan(offline(realm));
  });

  it('takes precedence over a ping that was in progress, also in the next time slot', async () => {
    for (const minutes of [0, 5]) {
      const realm = await newRealm();
      const { member, admin } = realm.people;
      const joined = Math.floor(realm.outside.now() / 1000);
      realm.pass(24 * 60 * 60_000);
      await here(realm, member);
      realm.pass(60_000);
      const late = realm.container(
        mishaps({
          put: [
            async (send) => {
              await set(realm, member, { presence_enabled: false });
              realm.pass(minutes * 60_000);
              return send();
            },
          ],
        }),
      );
      expect((await here(late, member)).status).toBe(200);
      expect((await seen(realm, admin, member)).active_timestamp).toBeCloseTo(joined, -1);
    }
  });
});
