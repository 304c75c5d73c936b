import { describe, expect, it } from 'vitest';
import { handler as remove } from '../../functions/users/removeProfileData.ts';
import { createField, filled, profileOf, toldOfProfiles, types } from '../support/field-state.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const refused = { status: 400, body: { code: 'BAD_REQUEST' } };

const take = (realm: TestRealm, as: Person, data: unknown): Promise<Reply> =>
  realm.call(remove, as, { data });

describe('DELETE /users/me/profile_data', () => {
  it('removes values of the profile, of required fields too (4.4), and sends everyone an event', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const one = await createField(realm, types.pronouns, { required: true });
    const two = await createField(realm, types.date);
    const three = await createField(realm, types.shortText);
    await filled(realm, member, one, 'they');
    await filled(realm, member, two, '2020-02-29');
    const before = await lastNumber(realm);
    expect((await take(realm, member, [one, three, one])).body).toEqual({ result: 'success', msg: '' });
    expect(await profileOf(realm, member)).toEqual({ [two]: { value: '2020-02-29' } });
    expect(await toldOfProfiles(realm, before)).toEqual([
      { user_id: member.userId, custom_profile_field: { id: one, value: null } },
    ]);
    // It is gone; asking again is no mistake.
    for (const data of [[one], []]) expect((await take(realm, member, data)).status).toBe(200);
    expect(await toldOfProfiles(realm, before)).toHaveLength(1);
  });

  it('refuses unknown fields, and changes nothing then', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await createField(realm, types.pronouns);
    await filled(realm, member, id, 'they');
    for (const other of [999_999, 0, -1])
      expect(await take(realm, member, [id, other])).toMatchObject(refused);
    for (const data of ['x', '5', '["5"]', '{}', 'null'])
      expect(await take(realm, member, data)).toMatchObject(refused);
    expect(await profileOf(realm, member)).toEqual({ [id]: { value: 'they' } });
  });

  it('refuses fields that only administrators may edit (4.4), and bots (wire facts 1.3)', async () => {
    const realm = await newRealm();
    const { admin, member, bot } = realm.people;
    const id = await createField(realm, types.pronouns, { editable_by_user: false });
    await filled(realm, admin, id, 'they');
    for (const person of [member, bot]) expect(await take(realm, person, [id])).toMatchObject(refused);
    expect((await take(realm, admin, [id])).status).toBe(200);
    expect(await profileOf(realm, admin)).toEqual({});
  });
});
