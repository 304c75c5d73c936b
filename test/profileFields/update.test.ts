import { describe, expect, it } from 'vitest';
import { type Mishap, mishaps } from '../support/faults.ts';
import {
  createField,
  dataFor,
  deleteField,
  edit,
  fields,
  fill,
  filled,
  profileOf,
  toldOfFields,
  tryToCreate,
  types,
} from '../support/field-state.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const refused = { status: 400, body: { code: 'BAD_REQUEST' } };

describe('PATCH /realm/profile_fields/{field_id}', () => {
  it('changes everything at once and sends all fields in one event (4.4, wire facts 6)', async () => {
    const realm = await newRealm();
    const other = await createField(realm, types.date);
    const id = await createField(realm, types.shortText, { name: 'Phone' });
    const before = await lastNumber(realm);
    const given = {
      name: 'Mobile',
      hint: 'With the country',
      required: true,
      editable_by_user: false,
      display_in_profile_summary: true,
      use_for_user_matching: true,
    };
    expect((await edit(realm, id, given)).body).toEqual({ result: 'success', msg: '' });
    const listed = await fields(realm);
    expect(listed).toMatchObject([{ id: other }, { id, type: 1, order: 1, field_data: '', ...given }]);
    expect(await toldOfFields(realm, before)).toEqual([listed]);
    const back = { display_in_profile_summary: false, use_for_user_matching: false };
    expect((await edit(realm, id, back)).status).toBe(200);
    const [, field] = await fields(realm);
    expect(Object.keys(field)).not.toEqual(expect.arrayContaining(Object.keys(back)));
    expect(field).toMatchObject({ name: 'Mobile', required: true });
  });

  it('leaves other parameters alone, and sends no event if nothing changes', async () => {
    const realm = await newRealm();
    const id = await createField(realm, types.dropdown, { name: 'Fruit', hint: 'x', required: true });
    const before = await lastNumber(realm);
    const listed = await fields(realm);
    for (const given of [{}, { name: ' Fruit ', hint: 'x', required: true, ...dataFor(types.dropdown) }]) {
      expect((await edit(realm, id, given)).status).toBe(200);
    }
    expect(await fields(realm)).toEqual(listed);
    expect(await toldOfFields(realm, before)).toEqual([]);
  });

  it('changes nothing when a part is refused', async () => {
    const realm = await newRealm();
    const id = await createField(realm, types.dropdown, { name: 'Fruit' });
    await createField(realm, types.shortText, { name: 'Taken' });
    const listed = await fields(realm);
    for (const given of [
      { hint: 'new', name: 'Taken' },
      { hint: 'new', name: ' ' },
      { hint: 'new', name: 'x'.repeat(41) },
      { name: 'New', hint: 'x'.repeat(81) },
      { name: 'New', field_data: {} },
      { name: 'New', field_data: { a: { text: 'Apple' } } },
      { name: 'New', use_for_user_matching: true },
      { name: 'New', required: '"yes"' },
    ]) {
      expect(await edit(realm, id, given)).toMatchObject(refused);
    }
    expect(await fields(realm)).toEqual(listed);
  });

  it('refuses users who are not administrators (wire facts 1.3), and unknown fields', async () => {
    const realm = await newRealm();
    const id = await createField(realm, types.shortText);
    for (const who of ['moderator', 'member', 'guest', 'bot'] as const) {
      expect(await edit(realm, id, { name: 'x' }, realm.people[who])).toMatchObject({
        status: 400,
        body: { code: 'UNAUTHORIZED_PRINCIPAL' },
      });
    }
    expect((await edit(realm, id, { name: 'x' }, realm.people.owner)).status).toBe(200);
    for (const other of [999_999, 0]) expect(await edit(realm, other, { name: 'x' })).toMatchObject(refused);
  });

  it('allows two fields in the summary, also under concurrent requests (4.4, 8)', async () => {
    const realm = await newRealm();
    const shown = { display_in_profile_summary: true };
    const first = await createField(realm, types.shortText, shown);
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push(await createField(realm, types.shortText));
    const users = await createField(realm, types.users);
    expect(await edit(realm, users, shown)).toMatchObject(refused);
    const replies = await Promise.all([
      ...ids.map((id) => edit(realm.container(), id, shown)),
      tryToCreate(realm.container(), types.shortText, { name: 'New', ...shown }),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    const listed = await fields(realm);
    expect(listed.filter((field) => field.display_in_profile_summary)).toHaveLength(2);
    // One that is in it already may be asked for again.
    expect((await edit(realm, first, shown)).status).toBe(200);
    expect((await edit(realm, first, { display_in_profile_summary: false })).status).toBe(200);
    await createField(realm, types.shortText, { name: 'Newer', ...shown });
  });

  it('refuses another name and hint for a known account (wire facts 6)', async () => {
    const realm = await newRealm();
    const field_data = { subtype: 'github' };
    const id = await createField(realm, types.externalAccount, { field_data });
    const [{ name, hint }] = await fields(realm);
    for (const given of [
      { name: 'Mine' },
      { hint: '' },
      { field_data: { subtype: 'twitter' } },
      dataFor(7),
    ]) {
      expect(await edit(realm, id, given)).toMatchObject(refused);
    }
    expect((await edit(realm, id, { name, hint, field_data, required: true })).status).toBe(200);
    expect(await fields(realm)).toMatchObject([{ name, hint, required: true }]);
  });

  it('fixes the name of a field that becomes a known account (wire facts 6)', async () => {
    const realm = await newRealm();
    const id = await createField(realm, types.externalAccount, { name: 'Mine' });
    expect((await edit(realm, id, { field_data: { subtype: 'github' } })).status).toBe(200);
    const [field] = await fields(realm);
    expect(field).toMatchObject({
      name: expect.stringMatching(/GitHub/),
      field_data: '{"subtype":"github"}',
    });
  });

  it('ends in the state of the last event after concurrent edits of one field', async () => {
    const realm = await newRealm();
    const id = await createField(realm, types.shortText);
    const before = await lastNumber(realm);
    const replies = await Promise.all(
      ['a', 'b', 'c', 'd'].map((hint) => edit(realm.container(), id, { hint })),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const events = await toldOfFields(realm, before);
    expect(events).toHaveLength(4);
    expect(await fields(realm)).toEqual(events.at(-1));
  });

  it('sends the event of a late edit after that of the one before it, even if its number was allocated earlier', async () => {
    const realm = await newRealm();
    const id = await createField(realm, types.shortText);
    const before = await lastNumber(realm);
    const meanwhile: Mishap = async (go) => {
      expect((await edit(realm, id, { hint: 'first' })).status).toBe(200);
      return go();
    };
    const late = realm.container(mishaps({ get: [undefined, meanwhile] }));
    expect((await edit(late, id, { hint: 'second' })).status).toBe(200);
    const events = await toldOfFields(realm, before);
    expect(events).toMatchObject([[{ hint: 'first' }], [{ hint: 'second' }]]);
    expect(await fields(realm)).toEqual(events.at(-1));
  });

  it('is refused if the field was deleted just before', async () => {
    const realm = await newRealm();
    const id = await createField(realm, types.shortText);
    const meanwhile: Mishap = async (go) => {
      expect((await deleteField(realm, id)).status).toBe(200);
      return go();
    };
    const late = realm.container(mishaps({ transact: [meanwhile] }));
    expect(await edit(late, id, { name: 'x' })).toMatchObject(refused);
    expect(await fields(realm)).toEqual([]);
  });
});

describe('choices that are changed (4.4: "keys identify the choices")', () => {
  const apple = { text: 'Apple', order: '1' };
  const pear = { text: 'Pear', order: '2' };

  it('stay chosen if they are renamed or reordered', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await createField(realm, types.dropdown, { field_data: { a: apple, b: pear } });
    await filled(realm, member, id, 'b');
    const field_data = { b: { text: 'Birne', order: '1' }, c: { text: 'Kiwi', order: '2' } };
    expect((await edit(realm, id, { field_data })).status).toBe(200);
    expect(await profileOf(realm, member)).toEqual({ [id]: { value: 'b' } });
  });

  it('are no longer chosen once removed, even if their key comes back', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const id = await createField(realm, types.dropdown, { field_data: { a: apple, b: pear } });
    await filled(realm, member, id, 'b');
    await filled(realm, guest, id, 'a');
    expect((await edit(realm, id, { field_data: { a: apple } })).status).toBe(200);
    expect(await profileOf(realm, member)).toEqual({});
    expect(
      (await edit(realm, id, { field_data: { a: apple, b: { text: 'Beer', order: '2' } } })).status,
    ).toBe(200);
    expect(await profileOf(realm, member)).toEqual({});
    expect(await profileOf(realm, guest)).toEqual({ [id]: { value: 'a' } });
    // Choosing it again is a change, with an event.
    const before = await lastNumber(realm);
    await filled(realm, member, id, 'b');
    expect(await profileOf(realm, member)).toEqual({ [id]: { value: 'b' } });
    expect(await lastNumber(realm)).toBeGreaterThan(before);
  });

  it('cannot be chosen if they were removed just before', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await createField(realm, types.dropdown, { field_data: { a: apple, b: pear } });
    const meanwhile: Mishap = async (go) => {
      expect((await edit(realm, id, { field_data: { a: apple } })).status).toBe(200);
      return go();
    };
    const late = realm.container(mishaps({ transact: [meanwhile] }));
    expect(await fill(late, member, [{ id, value: 'b' }])).toMatchObject(refused);
  });

  it('cost the same for any number of profiles (DESIGN 4)', async () => {
    const realm = await newRealm();
    const id = await createField(realm, types.dropdown, { field_data: { a: apple, b: pear } });
    const container = realm.container();
    expect((await edit(container, id, { field_data: { a: apple } })).status).toBe(200);
    const alone = container.meter.calls.length;
    expect((await edit(realm, id, { field_data: { a: apple, b: pear } })).status).toBe(200);
    for (const person of Object.values(realm.people)) {
      if (person !== realm.people.bot) await filled(realm, person, id, 'b');
    }
    const other = realm.container();
    expect((await edit(other, id, { field_data: { a: apple } })).status).toBe(200);
    expect(other.meter.calls.length).toBe(alone);
  });
});
