import { describe, expect, it } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as create } from '../../functions/profileFields/create.ts';
import { mishaps, unheard } from '../support/faults.ts';
import {
  createField,
  dataFor,
  fields,
  filled,
  profileOf,
  toldOfFields,
  tryToCreate,
  types,
} from '../support/field-state.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const refused = { status: 400, body: { code: 'BAD_REQUEST' } };

const choices = { java: { text: 'Java', order: '2' }, python: { text: 'Python', order: '1' } };

describe('POST /realm/profile_fields', () => {
  it('creates a field, with defaults, as the last one, and sends everyone the whole list (4.4, wire facts 6) (4.4/id, 4.4/hint, 4.4/required, 2.6/fields)', async () => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const first = await createField(realm, types.shortText, { name: ' Phone ', hint: 'With the country' });
    const second = await createField(realm, types.date, {
      name: 'Birthday',
      required: true,
      editable_by_user: false,
    });
    const expected = [
      {
        id: first,
        name: 'Phone',
        type: 1,
        hint: 'With the country',
        field_data: '',
        order: 0,
        required: false,
        editable_by_user: true,
      },
      {
        id: second,
        name: 'Birthday',
        type: 4,
        hint: '',
        field_data: '',
        order: 1,
        required: true,
        editable_by_user: false,
      },
    ];
    expect(await fields(realm)).toEqual(expected);
    expect(await toldOfFields(realm, before)).toEqual([expected.slice(0, 1), expected]);
  });

  it.each(Object.entries(types))('takes the type %s (2.6/types, 4.4/field_type)', async (_, type) => {
    const realm = await newRealm();
    const id = await createField(realm, type, { name: 'One' });
    expect(await fields(realm)).toMatchObject([{ id, name: 'One', type }]);
  });

  it.each([0, 9, -1, '"1"', '1.5', 'x', 'null'])(
    'refuses the type %s (4.4: 1 to 8) (4.4/field_type)',
    async (type) => {
      const realm = await newRealm();
      expect(await tryToCreate(realm, type, { name: 'One' })).toMatchObject(refused);
      expect(await fields(realm)).toEqual([]);
    },
  );

  it('requires a type (4.4/field_type)', async () => {
    const realm = await newRealm();
    expect(await realm.call(create, realm.people.admin, { name: 'One' })).toMatchObject({
      status: 400,
      body: { code: 'REQUEST_VARIABLE_MISSING', var_name: 'field_type' },
    });
  });

  it('names a field without a name after its type (4.4: not required) (4.4/name)', async () => {
    const realm = await newRealm();
    for (const type of [types.shortText, types.shortText, types.dropdown]) await createField(realm, type);
    expect((await fields(realm)).map(({ name }) => name)).toEqual(['Short text', 'Short text 2', 'Dropdown']);
  });

  it.each([
    ['a blank name', { name: ' \t' }],
    ['an empty name', { name: '' }],
    ['a name over 40 characters', { name: '😀'.repeat(41) }],
    ['a hint over 80 characters', { name: 'One', hint: '😀'.repeat(81) }],
    ['a name with NUL', { name: 'a\0' }],
  ])('refuses %s (wire facts 2, 6)', async (_, given) => {
    const realm = await newRealm();
    expect(await tryToCreate(realm, types.shortText, given)).toMatchObject(refused);
    expect(await fields(realm)).toEqual([]);
  });

  it('takes names and hints of the full length, counted in code points (wire facts 2)', async () => {
    const realm = await newRealm();
    const label = { name: '😀'.repeat(40), hint: '😀'.repeat(80) };
    await createField(realm, types.shortText, label);
    expect(await fields(realm)).toMatchObject([label]);
  });

  it('keeps names unique by exact case, also under concurrent requests (wire facts 6)', async () => {
    const realm = await newRealm();
    await createField(realm, types.shortText, { name: 'Phone' });
    expect(await tryToCreate(realm, types.link, { name: 'Phone ' })).toMatchObject(refused);
    await createField(realm, types.shortText, { name: 'phone' });
    const before = await lastNumber(realm);
    const replies = await Promise.all(
      [1, 2, 4, 8].map((type) => tryToCreate(realm.container(), type, { name: 'Mine' })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    for (const { body } of replies) if (body.result === 'error') expect(body.msg).toMatch(/already/);
    expect(await toldOfFields(realm, before)).toHaveLength(1);
  });

  it.each(['moderator', 'member', 'guest', 'bot'] as const)(
    'refuses a %s (4.4: organization administrators only; 5: UNAUTHORIZED_PRINCIPAL) (4.4/administrators)',
    async (who) => {
      const realm = await newRealm();
      expect(await tryToCreate(realm, types.shortText, { name: 'One' }, realm.people[who])).toMatchObject({
        status: 400,
        body: { code: 'UNAUTHORIZED_PRINCIPAL' },
      });
      expect(await fields(realm)).toEqual([]);
    },
  );

  it('creates one field if the reply of the store is lost', async () => {
    const realm = await newRealm();
    const container = realm.container(mishaps({ transact: [unheard] }));
    const id = await createField(container, types.shortText, {
      name: 'One',
      display_in_profile_summary: true,
    });
    expect(await fields(realm)).toMatchObject([{ id, order: 0 }]);
  });

  it('refuses fields that are too large together, and accepts very large ones', async () => {
    const realm = await newRealm();
    const many = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, i) => [`k${i}`, { text: `Choice ${i}`, order: `${i}` }]),
      );
    await createField(realm, types.dropdown, { name: 'One', field_data: many(1_500) });
    expect(await tryToCreate(realm, types.dropdown, { name: 'Two', field_data: many(1_500) })).toMatchObject(
      refused,
    );
    expect(await fields(realm)).toHaveLength(1);
  });
});

describe('a required field', () => {
  it('may be empty all the same, and may be emptied (4.4/required-empty)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await createField(realm, types.shortText, { name: 'Phone', required: true });
    expect(await profileOf(realm, member)).toEqual({});
    await filled(realm, member, id, '112');
    await filled(realm, member, id, '');
    expect(await profileOf(realm, member)).toEqual({});
  });
});

describe('field_data of a dropdown', () => {
  it('is returned as JSON text (4.4, wire facts 6) (4.4/field_data-dropdown)', async () => {
    const realm = await newRealm();
    await createField(realm, types.dropdown, { name: 'Language', field_data: choices });
    const [field] = await fields(realm);
    expect(JSON.parse(field.field_data)).toEqual(choices);
  });

  it.each([
    ['nothing', undefined],
    ['no choice (wire facts 6: at least one)', {}],
    ['a choice that is a text', { a: 'Apple' }],
    ['a choice without text', { a: { order: '1' } }],
    ['a choice without order', { a: { text: 'Apple' } }],
    ['a choice with something else', { a: { text: 'Apple', order: '1', color: 'red' } }],
    ['a blank text', { a: { text: ' ', order: '1' } }],
    ['a blank order', { a: { text: 'Apple', order: '' } }],
    ['a blank key', { ' ': { text: 'Apple', order: '1' } }],
    ['a text twice', { a: { text: 'Apple', order: '1' }, b: { text: 'Apple', order: '2' } }],
    ['an order that is a number (4.4: string)', { a: { text: 'Apple', order: 1 } }],
    ['a list', [{ text: 'Apple', order: '1' }]],
    ['a text', '"Apple"'],
    ['null', 'null'],
    ['no JSON', 'apple'],
  ])('cannot be %s (4.4/field_data-dropdown)', async (_, field_data) => {
    const realm = await newRealm();
    const given = { name: 'One', ...(field_data !== undefined && { field_data }) };
    expect(await tryToCreate(realm, types.dropdown, given)).toMatchObject(refused);
    expect(await fields(realm)).toEqual([]);
  });

  it('does not matter for other types (4.4: "used by type 3 and type 7")', async () => {
    const realm = await newRealm();
    await createField(realm, types.shortText, { name: 'One', field_data: choices });
    expect(await fields(realm)).toMatchObject([{ field_data: '' }]);
    const odd = { name: 'Two', field_data: { a: [1] } };
    expect(await tryToCreate(realm, types.shortText, odd)).toMatchObject(refused);
  });
});

describe('field_data of an external account', () => {
  it('fixes the name and hint of a known account (wire facts 6)', async () => {
    const realm = await newRealm();
    const given = { name: 'Mine', hint: 'x'.repeat(81), field_data: { subtype: 'github' } };
    await createField(realm, types.externalAccount, given);
    await createField(realm, types.externalAccount, { field_data: { subtype: 'twitter', url_pattern: 'x' } });
    const { body } = await realm.call(register, realm.people.member, { fetch_event_types: ['realm'] });
    const { github, twitter } = body.realm_default_external_accounts;
    expect(await fields(realm)).toMatchObject([
      { name: github.name, hint: github.hint, field_data: '{"subtype":"github"}' },
      { name: twitter.name, hint: twitter.hint, field_data: '{"subtype":"twitter"}' },
    ]);
    expect(await tryToCreate(realm, types.externalAccount, given)).toMatchObject(refused);
  });

  it('accepts a custom account with a URL pattern (wire facts 6) (4.4/field_data-account)', async () => {
    const realm = await newRealm();
    const field_data = { subtype: 'custom', url_pattern: 'https://example.com/u/%(username)s?x=1' };
    await createField(realm, types.externalAccount, { name: 'Mine', field_data });
    await createField(realm, types.externalAccount, { field_data });
    const [mine, nameless] = await fields(realm);
    expect(JSON.parse(mine.field_data)).toEqual(field_data);
    expect(nameless.name).toBe('External account');
  });

  it.each([
    ['nothing', undefined],
    ['an empty object', {}],
    ['a blank subtype', { subtype: ' ' }],
    ['an unknown subtype', { subtype: 'nowhere' }],
    ['the name of something in every object', { subtype: 'constructor' }],
    ['a subtype that is an object', { subtype: { text: 'github' } }],
    ['something else beside it', { subtype: 'github', color: 'red' }],
    ['its own account without an address', { subtype: 'custom' }],
    ['an address that is an object', { subtype: 'custom', url_pattern: { a: 'b' } }],
    ['an address without a place', { subtype: 'custom', url_pattern: 'https://example.com/' }],
    [
      'an address with two places',
      { subtype: 'custom', url_pattern: 'https://example.com/%(username)s/%(username)s' },
    ],
    ['an address that is none', { subtype: 'custom', url_pattern: 'example/%(username)s' }],
    ['a script', { subtype: 'custom', url_pattern: 'javascript:%(username)s' }],
    ['an address with markup', { subtype: 'custom', url_pattern: 'https://example.com/"><b>%(username)s' }],
    ['an address of another kind', { subtype: 'custom', url_pattern: 'ftp://example.com/%(username)s' }],
    ['an address with blanks', { subtype: 'custom', url_pattern: 'https://example.com/a b/%(username)s' }],
  ])('cannot be %s (wire facts 6)', async (_, field_data) => {
    const realm = await newRealm();
    const given = { name: 'One', ...(field_data !== undefined && { field_data }) };
    expect(await tryToCreate(realm, types.externalAccount, given)).toMatchObject(refused);
    expect(await fields(realm)).toEqual([]);
  });
});

describe('display_in_profile_summary', () => {
  it('can be set for two fields of an organization (4.4, 8) and is returned only when true (wire facts 6) (4.4/display_in_profile_summary)', async () => {
    const realm = await newRealm();
    const shown = { display_in_profile_summary: true };
    await createField(realm, types.shortText, { name: 'One', ...shown });
    await createField(realm, types.paragraph, { name: 'Two', ...shown });
    const third = await tryToCreate(realm, types.date, { name: 'Three', ...shown });
    expect(third).toMatchObject(refused);
    expect(third.body.msg).toContain('2');
    await createField(realm, types.date, { name: 'Three', display_in_profile_summary: false });
    const [one, two, three] = await fields(realm);
    expect([one.display_in_profile_summary, two.display_in_profile_summary]).toEqual([true, true]);
    expect(three).not.toHaveProperty('display_in_profile_summary');
  });

  it('is set for two of six concurrent requests, and the others are refused (4.4: "at most 2") (4.4/display_in_profile_summary)', async () => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        tryToCreate(realm.container(), types.shortText, {
          name: `Field ${i}`,
          display_in_profile_summary: true,
        }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 400, 400, 400, 400]);
    for (const { status, body } of replies) {
      if (status === 400)
        expect(body).toMatchObject({ code: 'BAD_REQUEST', msg: expect.stringMatching(/summary/) });
    }
    const listed = await fields(realm);
    expect(listed.map(({ display_in_profile_summary }) => display_in_profile_summary)).toEqual([true, true]);
    expect((await toldOfFields(realm, before)).at(-1)).toEqual(listed);
  });

  it('cannot be set for lists of users, but for every other type (4.4: "the Users type is not supported") (4.4/summary-users, 4.4/summary-paragraph)', async () => {
    for (const type of Object.values(types)) {
      const realm = await newRealm();
      const given = { name: 'One', ...dataFor(type), display_in_profile_summary: true };
      const { status } = await tryToCreate(realm, type, given);
      expect([type, status]).toEqual([type, type === types.users ? 400 : 200]);
    }
  });
});

describe('use_for_user_matching', () => {
  it('can be set only for short texts and external accounts, and is returned only when true (4.4/use_for_user_matching, 4.4/matching-told)', async () => {
    const realm = await newRealm();
    for (const type of Object.values(types)) {
      const given = { name: `Field ${type}`, ...dataFor(type) };
      const isFor = type === types.shortText || type === types.externalAccount;
      const { status } = await tryToCreate(realm, type, { ...given, use_for_user_matching: true });
      expect([type, status]).toEqual([type, isFor ? 200 : 400]);
      if (!isFor) await createField(realm, type, { ...given, use_for_user_matching: false });
    }
    for (const field of await fields(realm)) {
      const isFor = field.type === types.shortText || field.type === types.externalAccount;
      if (isFor) expect(field.use_for_user_matching).toBe(true);
      else expect(field).not.toHaveProperty('use_for_user_matching');
    }
  });
});
