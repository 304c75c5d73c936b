import { describe, expect, it } from 'vitest';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { handler as list } from '../../functions/users/list.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { key } from '../../shared/table/keys.ts';
import { type Mishap, mishaps, unheard } from '../support/faults.ts';
import { createField, edit, fill, filled, profileOf, toldOfProfiles, types } from '../support/field-state.ts';
import { givenUser, put } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const refused = { status: 400, body: { code: 'BAD_REQUEST' } };

/** A realm with one field of this type. */
async function withField(type: number, given: Readonly<Record<string, unknown>> = {}) {
  const realm = await newRealm();
  return { realm, member: realm.people.member, id: await createField(realm, type, given) };
}

describe('a link in a profile', () => {
  it.each([
    'https://example.com/<script>alert(1)</script>',
    'https://example.com/"onmouseover="alert(1)',
    'https://example.com/`x`',
    'https://example.com/a b',
    'https://example.com\\@evil.example/',
    'https://example.com/\u0007',
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://example.com/',
    'https:///path',
    'https://',
  ])('is not %s', async (value) => {
    const { realm, member, id } = await withField(types.link);
    expect(await fill(realm, member, [{ id, value }])).toMatchObject(refused);
    expect(await profileOf(realm, member)).toEqual({});
  });

  it.each([
    'https://example.com',
    'HTTP://example.com:8080/a?b=c&d=%22#e',
    "https://ja.example.com/wiki/日本_(it's)",
  ])('can be %s, which is kept unchanged', async (value) => {
    const { realm, member, id } = await withField(types.link);
    await filled(realm, member, id, value);
    expect(await profileOf(realm, member)).toEqual({ [id]: { value } });
  });

  it('that an earlier version accepted and that would be refused now is shown to nobody', async () => {
    const { realm, member, id } = await withField(types.link);
    await filled(realm, member, id, 'https://example.com');
    const at = key('profile', { realm: realm.realm, userId: member.userId });
    const values = { [id]: { value: 'https://example.com/"><script>' } };
    await put(realm, [{ update: at, change: { set: { values } } }]);
    expect(await profileOf(realm, member)).toEqual({});
  });
});

describe('PATCH /users/me/profile_data', () => {
  it('fills in several fields at once and sends everyone an event for each (wire facts 14.6)', async () => {
    const { realm, member, id } = await withField(types.shortText);
    const date = await createField(realm, types.date);
    const users = await createField(realm, types.users);
    const before = await lastNumber(realm);
    const { userId } = realm.people.admin;
    const { body } = await fill(realm, member, [
      { id, value: '*hi*' },
      { id: date, value: '2020-02-29' },
      { id: users, value: [userId, userId] },
    ]);
    expect(body).toEqual({ result: 'success', msg: '' });
    const rendered_value = '<p><em>hi</em></p>';
    expect(await profileOf(realm, member)).toEqual({
      [id]: { value: '*hi*', rendered_value },
      [date]: { value: '2020-02-29' },
      [users]: { value: `[${userId}]` },
    });
    const told = (custom_profile_field: object) => ({ user_id: member.userId, custom_profile_field });
    expect(await toldOfProfiles(realm, before)).toEqual([
      told({ id, value: '*hi*', rendered_value }),
      told({ id: date, value: '2020-02-29' }),
      told({ id: users, value: `[${userId}]` }),
    ]);
  });

  it('shows values wherever users are returned, on request', async () => {
    const { realm, member, id } = await withField(types.pronouns);
    await filled(realm, member, id, 'they');
    const profile_data = { [id]: { value: 'they' } };
    expect((await realm.call(getOwn, member)).body).toMatchObject({ profile_data });
    const of = async (query: object) => {
      const { body } = await realm.call(list, realm.people.guest, {}, { query: { ...query } });
      return body.members.find(({ user_id }: { user_id: number }) => user_id === member.userId);
    };
    expect(await of({ include_custom_profile_fields: true })).toMatchObject({ profile_data });
    expect(await of({ include_custom_profile_fields: true, user_ids: [member.userId] })).toMatchObject({
      profile_data,
    });
    expect(await of({})).not.toHaveProperty('profile_data');
    const others = (await realm.call(getOwn, realm.people.guest)).body;
    expect(others.profile_data).toEqual({});
  });

  it('renders short texts and paragraphs, with names of users and channels, and no other types', async () => {
    const { realm, member, id } = await withField(types.paragraph);
    const text = 'See #**general**,\n\n* @**Ada Admin**';
    await filled(realm, member, id, text);
    const profile = await profileOf(realm, member);
    expect(profile[id].value).toBe(text);
    expect(profile[id].rendered_value).toContain('<li>');
    expect(profile[id].rendered_value).toContain('class="stream"');
    for (const type of [types.pronouns, types.externalAccount]) {
      const other = await createField(realm, type);
      await filled(realm, member, other, '*x*');
      expect((await profileOf(realm, member))[other]).toEqual({ value: '*x*' });
    }
  });

  it.each([
    ['a short text', types.shortText, 'x'.repeat(51)],
    ['a paragraph', types.paragraph, '😀'.repeat(501)],
    ['a paragraph', types.paragraph, [1]],
    ['a choice', types.dropdown, 'b'],
    ['a choice', types.dropdown, 'Apple'],
    ['a choice', types.dropdown, [1]],
    ['a choice', types.dropdown, 'constructor'],
    ['a date', types.date, '2021-02-29'],
    ['a date', types.date, '2020-2-9'],
    ['a date', types.date, '0000-01-01'],
    ['a date', types.date, '2020-02-29T00:00:00Z'],
    ['a date', types.date, 'today'],
    ['a link', types.link, 'example.com'],
    ['a link', types.link, 'javascript:alert(1)'],
    ['a link', types.link, 'https://'],
    ['a link', types.link, 'https://exa mple.com'],
    ['a link', types.link, 'https://example.com/a b'],
    ['a link', types.link, `https://example.com/${'x'.repeat(2_048)}`],
    ['a list of users', types.users, [999_999]],
    ['a list of users', types.users, [0]],
    ['a list of users', types.users, '[1]'],
    ['a list of users', types.users, 'Ada'],
    ['an external account', types.externalAccount, 'x'.repeat(51)],
    ['pronouns', types.pronouns, 'x'.repeat(51)],
    ['any value', types.shortText, 5],
    ['any value', types.shortText, {}],
    ['any value', types.users, ['1']],
    ['any value', types.users, [1.5]],
  ])('refuses as %s (2.6, type %i): %j', async (_, type, value) => {
    const { realm, member, id } = await withField(type);
    expect(await fill(realm, member, [{ id, value }])).toMatchObject(refused);
    expect(await profileOf(realm, member)).toEqual({});
  });

  it.each([
    [types.shortText, '😀'.repeat(50)],
    [types.paragraph, '😀'.repeat(500)],
    [types.dropdown, 'a'],
    [types.date, '0999-12-31'],
    [types.link, 'https://example.com/%(username)s?x#y'],
    [types.link, 'http://[::1]:80'],
    [types.externalAccount, '@somebody'],
    [types.pronouns, 'they/them'],
  ])('accepts for the type %i (2.6): %j', async (type, value) => {
    const { realm, member, id } = await withField(type);
    await filled(realm, member, id, value);
    expect((await profileOf(realm, member))[id].value).toBe(value);
  });

  it('accepts in a list of users only active users who are not bots', async () => {
    const { realm, member, id } = await withField(types.users);
    const { bot, moderator, owner, admin } = realm.people;
    const gone = await realm.call(deactivate, owner, {}, { path: { user: moderator.userId } });
    expect(gone.status).toBe(200);
    for (const person of [bot, moderator]) {
      expect(await fill(realm, member, [{ id, value: [admin.userId, person.userId] }])).toMatchObject(
        refused,
      );
    }
    await filled(realm, member, id, [admin.userId, member.userId]);
  });

  it('does not reveal to guests which hidden users exist (wire facts 3.8)', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const guest = await givenUser(realm, { role: 600 });
    const stranger = await givenUser(realm, { fullName: 'Sue Stranger' });
    const id = await createField(realm, types.users);
    const text = await createField(realm, types.shortText);
    const hidden = await fill(realm, guest, [{ id, value: [stranger.userId] }]);
    const missing = await fill(realm, guest, [{ id, value: [stranger.userId + 1_000] }]);
    expect(hidden).toMatchObject(refused);
    expect(hidden.body.msg.replace(/\d+/, '')).toBe(missing.body.msg.replace(/\d+/, ''));
    await filled(realm, guest, text, '@**Sue Stranger**');
    expect((await profileOf(realm, guest))[text].rendered_value).not.toContain('user-mention');
    await filled(realm, guest, id, [guest.userId]);
  });

  it.each([null, '', ' \t', []])('removes a value for %j', async (value) => {
    const { realm, member, id } = await withField(types.shortText, { required: true });
    await filled(realm, member, id, 'x');
    const before = await lastNumber(realm);
    await filled(realm, member, id, value);
    expect(await profileOf(realm, member)).toEqual({});
    expect(await toldOfProfiles(realm, before)).toEqual([
      { user_id: member.userId, custom_profile_field: { id, value: null } },
    ]);
  });

  it('changes nothing when a part is refused, and sends no event if nothing changes', async () => {
    const { realm, member, id } = await withField(types.shortText);
    const date = await createField(realm, types.date);
    await filled(realm, member, id, 'x');
    const before = await lastNumber(realm);
    for (const other of [
      { id: date, value: 'x' },
      { id: 999_999, value: 'x' },
      { id: 0, value: null },
      { id: -1, value: 'x' },
    ]) {
      expect(await fill(realm, member, [{ id, value: 'y' }, other])).toMatchObject(refused);
    }
    for (const same of [[], [{ id, value: 'x' }], [{ id: date, value: '' }]]) {
      expect((await fill(realm, member, same)).status).toBe(200);
    }
    expect(await profileOf(realm, member)).toMatchObject({ [id]: { value: 'x' } });
    expect(await toldOfProfiles(realm, before)).toEqual([]);
  });

  it('uses the last of several values for one field', async () => {
    const { realm, member, id } = await withField(types.pronouns);
    const before = await lastNumber(realm);
    const values = ['x', 'y'].map((value) => ({ id, value }));
    expect((await fill(realm, member, values)).status).toBe(200);
    expect(await profileOf(realm, member)).toEqual({ [id]: { value: 'y' } });
    expect(await toldOfProfiles(realm, before)).toHaveLength(1);
  });

  it('refuses fields that only administrators may edit (4.4: "editable_by_user") (4.4/editable_by_user)', async () => {
    const { realm, member, id } = await withField(types.pronouns, { editable_by_user: false });
    for (const person of [member, realm.people.moderator, realm.people.guest]) {
      expect(await fill(realm, person, [{ id, value: 'x' }])).toMatchObject(refused);
      expect(await fill(realm, person, [{ id, value: null }])).toMatchObject(refused);
    }
    for (const person of [realm.people.admin, realm.people.owner]) await filled(realm, person, id, 'x');
    expect((await edit(realm, id, { editable_by_user: true })).status).toBe(200);
    await filled(realm, member, id, 'x');
  });

  it('refuses bots (wire facts 1.3), and an entry without a value', async () => {
    const { realm, member, id } = await withField(types.pronouns);
    expect(await fill(realm, realm.people.bot, [{ id, value: 'x' }])).toMatchObject(refused);
    expect(await fill(realm, member, [{ id }] as never)).toMatchObject(refused);
    expect(await fill(realm, member, 'x' as never)).toMatchObject(refused);
    const many = Array.from({ length: 1_001 }, () => ({ id, value: 'x' }));
    expect(await fill(realm, member, many)).toMatchObject(refused);
  });

  it('keeps concurrent changes of one profile, and sends the last one last', async () => {
    const { realm, member, id } = await withField(types.pronouns);
    const ids = [id];
    for (let i = 0; i < 3; i++) ids.push(await createField(realm, types.pronouns));
    const before = await lastNumber(realm);
    const replies = await Promise.all(
      ids.map((each, i) =>
        fill(realm.container(), member, [
          { id: each, value: `${i}` },
          { id, value: `by ${i}` },
        ]),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const profile = await profileOf(realm, member);
    ids.slice(1).forEach((each, i) => {
      expect(profile[each]).toEqual({ value: `${i + 1}` });
    });
    const told = (await toldOfProfiles(realm, before)) as {
      custom_profile_field: { id: number; value: string };
    }[];
    const last = told.findLast(({ custom_profile_field: field }) => field.id === id);
    expect(last?.custom_profile_field.value).toBe(profile[id].value);
  });

  it('sends the event of a late change after that of the one before it, even if its number was allocated earlier', async () => {
    const { realm, member, id } = await withField(types.pronouns);
    const before = await lastNumber(realm);
    const meanwhile: Mishap = async (go) => {
      await filled(realm, member, id, 'first');
      return go();
    };
    await filled(realm.container(mishaps({ get: [undefined, meanwhile] })), member, id, 'second');
    expect(await toldOfProfiles(realm, before)).toEqual(
      ['first', 'second'].map((value) => ({ user_id: member.userId, custom_profile_field: { id, value } })),
    );
    expect(await profileOf(realm, member)).toEqual({ [id]: { value: 'second' } });
  });

  it('takes effect once if the reply of the store is lost', async () => {
    const { realm, member, id } = await withField(types.pronouns);
    const before = await lastNumber(realm);
    await filled(realm.container(mishaps({ transact: [unheard] })), member, id, 'x');
    expect(await toldOfProfiles(realm, before)).toHaveLength(1);
  });

  it('refuses a profile that becomes too large', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const ids: number[] = [];
    for (let i = 0; i < 25; i++) ids.push(await createField(realm, types.paragraph, { name: `${i}` }));
    const link = `[x](https://example.com/)`;
    const value = `:tada:`.repeat(83);
    const replies = [];
    for (const id of ids) replies.push((await fill(realm, member, [{ id, value }])).status);
    expect(new Set(replies)).toEqual(new Set([200, 400]));
    await filled(realm, member, ids[0] as number, link);
  });

  it('takes 3 round trips cold and 2 warm (DESIGN 7), and endpoints that show it stay within their budgets', async () => {
    const { realm, member, id } = await withField(types.shortText);
    const users = await createField(realm, types.users);
    const container = realm.container();
    await filled(container, member, id, 'see #**general**');
    expect(container.meter.roundTrips).toBe(3);
    container.meter.reset();
    const values = [
      { id, value: 'see #**general**!' },
      { id: users, value: [member.userId] },
    ];
    expect((await fill(container, member, values)).status).toBe(200);
    expect(container.meter.roundTrips).toBe(2);
    for (const handler of [list, getOwn]) {
      const other = realm.container();
      const query = handler === list ? { include_custom_profile_fields: true } : {};
      await other.call(handler, member, {}, { query });
      expect(other.meter.roundTrips).toBe(2);
      other.meter.reset();
      await other.call(handler, member, {}, { query });
      expect(other.meter.roundTrips).toBe(1);
    }
  });
});
