import { describe, expect, it } from 'vitest';
import { handler as getStatus } from '../../functions/users/getStatus.ts';
import { handler as setStatus } from '../../functions/users/setStatus.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { key } from '../../shared/table/keys.ts';
import { answer, out } from '../support/accounts.ts';
import { givenClient } from '../support/event-queue.ts';
import { lost, mishaps, unheard } from '../support/faults.ts';
import { givenEmoji, givenUser } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import { told } from '../support/subscription-state.ts';

const set = (realm: TestRealm, as: Person, parameters: Record<string, unknown>) =>
  realm.call(setStatus, as, parameters);

const of = (realm: TestRealm, { userId }: Pick<Person, 'userId'>, by = realm.people.bot) =>
  realm.call(getStatus, by, undefined, { path: { user: userId } });

const said = async (realm: TestRealm, person: Person) => (await of(realm, person)).body.status;

const registered = async (realm: TestRealm, person: Person) =>
  (await givenClient(realm, person, { fetch_event_types: ['user_status'] })).state.user_status;

const tools = { emoji_name: 'working_on_it', emoji_code: '1f6e0', reaction_type: 'unicode_emoji' };

describe('POST /users/me/status', () => {
  it('sets a text and an emoji, and sends everyone an event with the change', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const client = await givenClient(realm, guest, { fetch_event_types: ['user_status'] });
    const state = client.state.user_status;
    expect(state).toEqual({});
    const { status, body } = await set(realm, member, { status_text: '  on a train ' });
    expect([status, body]).toEqual([200, { result: 'success', msg: '' }]);
    await set(realm, member, { emoji_name: 'working_on_it' });
    const events = await client.poll();
    expect(events).toEqual([
      { id: expect.any(Number), type: 'user_status', user_id: member.userId, status_text: 'on a train' },
      { id: expect.any(Number), type: 'user_status', user_id: member.userId, ...tools },
    ]);
    const both = { status_text: 'on a train', ...tools };
    expect(await registered(realm, guest)).toEqual({ [member.userId]: both });
    expect(await said(realm, member)).toEqual(both);
  });

  it('clears either one by an empty string, or both', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    await set(realm, member, { status_text: 'here', emoji_name: 'working_on_it' });
    const client = await givenClient(realm, guest);
    await set(realm, member, { emoji_name: '' });
    expect(await said(realm, member)).toEqual({ status_text: 'here' });
    await set(realm, member, { emoji_name: 'working_on_it', status_text: '' });
    expect(await said(realm, member)).toEqual(tools);
    await set(realm, member, { emoji_name: '' });
    expect(await said(realm, member)).toEqual({});
    expect(await registered(realm, guest)).toEqual({});
    const cleared = { emoji_name: '', emoji_code: '', reaction_type: 'unicode_emoji' };
    expect(await client.poll()).toMatchObject([cleared, { ...tools, status_text: '' }, cleared]);
    await set(realm, member, { status_text: 'back' });
    expect(await said(realm, member)).toEqual({ status_text: 'back' });
  });

  it('clears the emoji if all three of its fields are empty', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await set(realm, member, { status_text: 'here', emoji_name: 'working_on_it' });
    const empty = { emoji_name: '', emoji_code: '', reaction_type: '' };
    expect(answer(await set(realm, member, empty))).toEqual([200, undefined]);
    expect(await said(realm, member)).toEqual({ status_text: 'here' });
    // Without a name the other two say nothing, and a text may come with them.
    const text = { status_text: 'there', emoji_code: '', reaction_type: '' };
    expect(answer(await set(realm, member, text))).toEqual([200, undefined]);
    expect(await said(realm, member)).toEqual({ status_text: 'there' });
  });

  it('sends no event for values that stay the same, and ignores parameters that are no longer supported', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await set(realm, member, { status_text: 'here' });
    const before = await lastNumber(realm);
    const { body } = await set(realm, member, { status_text: 'here', away: true });
    expect(body).toMatchObject({ result: 'success', ignored_parameters_unsupported: ['away'] });
    expect(await told(realm, before)).toEqual([]);
  });

  it('keeps a custom emoji visible that is deactivated later (specification 3, 4.9)', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    await givenEmoji(realm, 'party_cat');
    const cat = { emoji_name: 'party_cat', emoji_code: '1', reaction_type: 'realm_emoji' };
    expect((await set(realm, member, { emoji_name: 'party_cat' })).status).toBe(200);
    const write = { delete: key('emojiName', { realm: realm.realm, name: 'party_cat' }) };
    await realm.outside.table.transact([write], realm.outside.uuid());
    expect(await said(realm, member)).toEqual(cat);
    expect(await registered(realm, guest)).toEqual({ [member.userId]: cat });
    expect(answer(await set(realm, guest, { emoji_name: 'party_cat' }))).toEqual([400, 'BAD_REQUEST']);
    expect((await set(realm, member, { status_text: 'and a text' })).status).toBe(200);
    expect(await said(realm, member)).toEqual({ ...cat, status_text: 'and a text' });
  });

  it.each<[string, Record<string, unknown>]>([
    ['a text of 61 characters', { status_text: '😀'.repeat(61) }],
    ['an emoji that does not exist', { emoji_name: 'no_such_emoji' }],
    ['a code that is not that of the name', { ...tools, emoji_code: '1f600' }],
    ['a kind that is not that of the name', { ...tools, reaction_type: 'realm_emoji' }],
    ['a kind that does not exist', { ...tools, reaction_type: 'sticker' }],
    ['an empty kind with a name', { ...tools, reaction_type: '' }],
    ['an empty code with a name', { ...tools, emoji_code: '' }],
    ['a code without a name', { status_text: 'x', emoji_code: '1f6e0' }],
    ['a kind without a name', { reaction_type: 'unicode_emoji' }],
    ['nothing at all', {}],
  ])('refuses %s', async (_, parameters) => {
    const realm = await newRealm();
    expect(answer(await set(realm, realm.people.member, parameters))).toEqual([400, 'BAD_REQUEST']);
    expect(await said(realm, realm.people.member)).toEqual({});
  });

  it('accepts a text of 60 characters, however many bytes they take', async () => {
    const realm = await newRealm();
    expect((await set(realm, realm.people.guest, { status_text: '😀'.repeat(60) })).status).toBe(200);
  });

  it('refuses bots', async () => {
    const realm = await newRealm();
    expect(answer(await set(realm, realm.people.bot, { status_text: 'x' }))).toEqual([400, 'BAD_REQUEST']);
  });

  it('keeps both of two concurrent changes, one of the text, one of the emoji', async () => {
    for (let round = 0; round < 4; round++) {
      const realm = await newRealm();
      const { member } = realm.people;
      await set(realm, member, { status_text: 'before' });
      const replies = await Promise.all(
        [{ status_text: '' }, { emoji_name: 'working_on_it' }].map((change) =>
          set(realm.container(), member, change),
        ),
      );
      expect(replies.map(({ status }) => status)).toEqual([200, 200]);
      expect(await said(realm, member)).toEqual(tools);
      const stored = await realm.outside.table.get('userStatus', {
        realm: realm.realm,
        userId: member.userId,
      });
      expect(stored).not.toHaveProperty('expires');
    }
  });

  it.each([
    ['is lost', lost],
    ['works unheard', unheard],
  ])('takes effect once when the first try %s', async (_, mishap) => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const container = realm.container(mishaps({ transact: [mishap] }));
    expect((await set(container, realm.people.member, { status_text: 'once' })).status).toBe(200);
    expect(await told(realm, before)).toHaveLength(1);
  });
});

describe('GET /users/{id}/status', () => {
  it('refuses bots and unknown users', async () => {
    const realm = await newRealm();
    const { bot, guest, owner } = realm.people;
    await out(realm, owner, guest);
    for (const userId of [bot.userId, guest.userId, 0, 999_999]) {
      expect(answer(await of(realm, { userId })), String(userId)).toEqual([400, 'BAD_REQUEST']);
    }
    expect(await registered(realm, owner)).toEqual({});
  });

  it('hides strangers from guests who may not see everyone (wire facts 3.8)', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const { guest, member } = realm.people;
    const stranger = await givenUser(realm);
    const client = await givenClient(realm, guest);
    for (const person of [stranger, member]) await set(realm, person, { status_text: 'hidden?' });
    expect(await client.poll()).toMatchObject([{ user_id: member.userId }]);
    expect(Object.keys(await registered(realm, guest))).toEqual([`${member.userId}`]);
    expect(answer(await of(realm, stranger, guest))).toEqual([400, 'BAD_REQUEST']);
    expect((await of(realm, member, guest)).status).toBe(200);
  });
});
