import { describe, expect, it } from 'vitest';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { handler as update } from '../../functions/users/update.ts';
import { type Mishap, mishaps } from '../support/faults.ts';
import { createField, filled, profileOf, toldOfProfiles, types } from '../support/field-state.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const refused = { status: 400, body: { code: 'BAD_REQUEST' } };

const fillFor = (
  realm: TestRealm,
  { userId }: Person,
  profile_data: unknown,
  given: object = {},
  as: Person = realm.people.admin,
): Promise<Reply> => realm.call(update, as, { profile_data, ...given }, { path: { user: userId } });

describe('PATCH /users/{user} with profile_data', () => {
  it('lets administrators fill in any field of anybody (4.4: "any user\'s value regardless") (4.4/editable-administrators)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await createField(realm, types.shortText, { editable_by_user: false });
    const before = await lastNumber(realm);
    expect((await fillFor(realm, member, [{ id, value: '*x*' }])).body).toEqual({
      result: 'success',
      msg: '',
    });
    const value = { value: '*x*', rendered_value: '<p><em>x</em></p>' };
    expect(await profileOf(realm, member)).toEqual({ [id]: value });
    expect(await toldOfProfiles(realm, before)).toEqual([
      { user_id: member.userId, custom_profile_field: { id, ...value } },
    ]);
    for (const empty of [null, '']) {
      expect((await fillFor(realm, member, [{ id, value: empty }])).status).toBe(200);
      expect(await profileOf(realm, member)).toEqual({});
    }
  });

  it("refuses other users (wire facts 1.3), and checks values like those of one's own profile", async () => {
    const realm = await newRealm();
    const { member, guest, moderator, bot } = realm.people;
    const id = await createField(realm, types.date);
    for (const person of [member, guest, moderator, bot]) {
      expect(await fillFor(realm, member, [{ id, value: '2020-02-29' }], {}, person)).toMatchObject({
        status: 400,
        body: { code: 'UNAUTHORIZED_PRINCIPAL' },
      });
    }
    for (const data of [[{ id, value: 'x' }], [{ id: 999_999, value: null }], 'x', [{ id }]]) {
      expect(await fillFor(realm, member, data)).toMatchObject(refused);
    }
    expect(await profileOf(realm, member)).toEqual({});
  });

  it('refuses bots, which have no profile, but accepts deactivated users', async () => {
    const realm = await newRealm();
    const { owner, member, bot } = realm.people;
    const id = await createField(realm, types.pronouns);
    expect(await fillFor(realm, bot, [{ id, value: 'it' }])).toMatchObject(refused);
    expect((await realm.call(deactivate, owner, {}, { path: { user: member.userId } })).status).toBe(200);
    expect((await fillFor(realm, member, [{ id, value: 'they' }])).status).toBe(200);
    expect(await profileOf(realm, member)).toEqual({ [id]: { value: 'they' } });
  });

  it('changes everything or nothing', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await createField(realm, types.date);
    const before = await lastNumber(realm);
    const name = { full_name: 'New Name' };
    expect(await fillFor(realm, member, [{ id, value: 'x' }], name)).toMatchObject(refused);
    expect(await toldOfProfiles(realm, before)).toEqual([]);
    expect((await fillFor(realm, member, [{ id, value: '2020-02-29' }], name)).status).toBe(200);
    expect(await toldOfProfiles(realm, before)).toEqual([
      { user_id: member.userId, full_name: 'New Name' },
      { user_id: member.userId, custom_profile_field: { id, value: '2020-02-29' } },
    ]);
  });

  it('keeps a concurrent change of another field by the user', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const one = await createField(realm, types.pronouns);
    const two = await createField(realm, types.pronouns);
    const meanwhile: Mishap = async (go) => {
      await filled(realm, member, two, 'mine');
      return go();
    };
    const late = realm.container(mishaps({ transact: [meanwhile] }));
    expect((await fillFor(late, member, [{ id: one, value: 'theirs' }])).status).toBe(200);
    expect(await profileOf(realm, member)).toEqual({ [one]: { value: 'theirs' }, [two]: { value: 'mine' } });
  });

  it('takes 3 round trips, cold and warm, also for many fields (DESIGN 7)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const ids: number[] = [];
    for (let i = 0; i < 12; i++) ids.push(await createField(realm, types.shortText));
    const container = realm.container();
    const all = (value: string) => ids.map((id) => ({ id, value }));
    expect((await fillFor(container, member, all('see #**general**'))).status).toBe(200);
    expect(container.meter.roundTrips).toBe(3);
    container.meter.reset();
    expect((await fillFor(container, member, all('see #**general**!'))).status).toBe(200);
    expect(container.meter.roundTrips).toBe(3);
  });
});
