import { describe, expect, it } from 'vitest';
import { handler as list } from '../../functions/profileFields/list.ts';
import { createField, fields, sort, toldOfFields, types } from '../support/field-state.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const refused = { status: 400, body: { code: 'BAD_REQUEST' } };

async function threeFields() {
  const realm = await newRealm();
  const a = await createField(realm, types.shortText, { name: 'a' });
  const b = await createField(realm, types.paragraph, { name: 'b' });
  const c = await createField(realm, types.date, { name: 'c' });
  return { realm, a, b, c };
}

describe('PATCH /realm/profile_fields', () => {
  it('sorts the fields and sends all of them in an event; new ones come last (wire facts 6: order)', async () => {
    const { realm, a, b, c } = await threeFields();
    const before = await lastNumber(realm);
    expect((await sort(realm, [c, a, b])).body).toEqual({ result: 'success', msg: '' });
    const listed = await fields(realm);
    expect(listed.map(({ id, order }) => [id, order])).toEqual([
      [c, 0],
      [a, 1],
      [b, 2],
    ]);
    expect(await toldOfFields(realm, before)).toEqual([listed]);
    const d = await createField(realm, types.link, { name: 'd' });
    expect((await fields(realm)).map(({ id }) => id)).toEqual([c, a, b, d]);
  });

  it('sends no event if the order stays the same', async () => {
    const { realm, a, b, c } = await threeFields();
    const before = await lastNumber(realm);
    expect((await sort(realm, [a, b, c])).status).toBe(200);
    expect(await toldOfFields(realm, before)).toEqual([]);
  });

  it('requires the id of each field once', async () => {
    const { realm, a, b, c } = await threeFields();
    for (const order of [[], [a, c], [a, a, b, c], [a, b, c, 999_999], [a, b, 0], [a, a, b]]) {
      expect(await sort(realm, order)).toMatchObject(refused);
    }
    for (const order of ['x', '7', '{}', '["1"]', '[1.5]'])
      expect(await sort(realm, order)).toMatchObject(refused);
    expect((await fields(realm)).map(({ id }) => id)).toEqual([a, b, c]);
  });

  it('refuses users who are not administrators (wire facts 1.3)', async () => {
    const { realm, a, b, c } = await threeFields();
    for (const who of ['moderator', 'member', 'guest', 'bot'] as const) {
      expect(await sort(realm, [a, b, c], realm.people[who])).toMatchObject({
        status: 400,
        body: { code: 'UNAUTHORIZED_PRINCIPAL' },
      });
    }
  });

  it('ends in the order of the last event after concurrent sorting and adding', async () => {
    const { realm, a, b, c } = await threeFields();
    const before = await lastNumber(realm);
    const orders = [
      [a, c, b],
      [b, a, c],
      [c, b, a],
    ];
    const replies = await Promise.all(orders.map((order) => sort(realm.container(), order)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await fields(realm)).toEqual((await toldOfFields(realm, before)).at(-1));
  });
});

describe('GET /realm/profile_fields', () => {
  it('is allowed to every user, and returns an empty list at first', async () => {
    const realm = await newRealm();
    for (const person of Object.values(realm.people)) {
      const { body } = await realm.call(list, person);
      expect(body).toEqual({ result: 'success', msg: '', custom_fields: [] });
    }
  });
});
