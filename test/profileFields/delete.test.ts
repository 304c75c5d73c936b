import { describe, expect, it } from 'vitest';
import { type Mishap, mishaps } from '../support/faults.ts';
import {
  createField,
  deleteField,
  fields,
  fill,
  filled,
  profileOf,
  toldOfFields,
  types,
} from '../support/field-state.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const refused = { status: 400, body: { code: 'BAD_REQUEST' } };

describe('DELETE /realm/profile_fields/{field_id}', () => {
  it('removes the field and sends the others an event (wire facts 6)', async () => {
    const realm = await newRealm();
    const one = await createField(realm, types.shortText, { name: 'One' });
    const two = await createField(realm, types.date, { name: 'Two' });
    const before = await lastNumber(realm);
    expect((await deleteField(realm, one)).body).toEqual({ result: 'success', msg: '' });
    const listed = await fields(realm);
    expect(listed).toMatchObject([{ id: two, order: 0 }]);
    expect(await toldOfFields(realm, before)).toEqual([listed]);
    expect(await deleteField(realm, one)).toMatchObject(refused);
    expect((await deleteField(realm, two)).status).toBe(200);
    expect(await fields(realm)).toEqual([]);
  });

  it('removes its values from profiles, even if a field like it is added later', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const field = { name: 'Phone' };
    const id = await createField(realm, types.shortText, field);
    const other = await createField(realm, types.date);
    await filled(realm, member, id, '112');
    await filled(realm, member, other, '2020-02-29');
    expect((await deleteField(realm, id)).status).toBe(200);
    expect(await profileOf(realm, member)).toEqual({ [other]: { value: '2020-02-29' } });
    const again = await createField(realm, types.shortText, field);
    expect(again).toBeGreaterThan(id);
    expect(await profileOf(realm, member)).toEqual({ [other]: { value: '2020-02-29' } });
    await filled(realm, member, again, '911');
    const stored = await realm.outside.table.get('profile', { realm: realm.realm, userId: member.userId });
    expect(Object.keys(stored?.values as object).map(Number)).toEqual([other, again]);
  });

  it('frees its place in the summary and its name', async () => {
    const realm = await newRealm();
    const shown = { display_in_profile_summary: true };
    const id = await createField(realm, types.shortText, { name: 'One', ...shown });
    await createField(realm, types.shortText, { name: 'Two', ...shown });
    expect((await deleteField(realm, id)).status).toBe(200);
    await createField(realm, types.date, { name: 'One', ...shown });
  });

  it('refuses users who are not administrators (wire facts 1.3), and unknown fields', async () => {
    const realm = await newRealm();
    const id = await createField(realm, types.shortText);
    for (const who of ['moderator', 'member', 'guest', 'bot'] as const) {
      expect(await deleteField(realm, id, realm.people[who])).toMatchObject({
        status: 400,
        body: { code: 'UNAUTHORIZED_PRINCIPAL' },
      });
    }
    for (const other of [999_999, 0]) expect(await deleteField(realm, other)).toMatchObject(refused);
    expect(await fields(realm)).toHaveLength(1);
  });

  it('succeeds beside a user who fills in the field at the same time', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await createField(realm, types.shortText);
    const meanwhile: Mishap = async (go) => {
      expect((await deleteField(realm, id)).status).toBe(200);
      return go();
    };
    const late = realm.container(mishaps({ transact: [meanwhile] }));
    expect(await fill(late, member, [{ id, value: 'x' }])).toMatchObject(refused);
    expect(await profileOf(realm, member)).toEqual({});
  });

  it('succeeds for one of several concurrent requests', async () => {
    const realm = await newRealm();
    const id = await createField(realm, types.shortText);
    const replies = await Promise.all([1, 2, 3].map(() => deleteField(realm.container(), id)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });
});
