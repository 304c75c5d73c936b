import { expect } from 'vitest';
import { handler as create } from '../../functions/profileFields/create.ts';
import { handler as remove } from '../../functions/profileFields/delete.ts';
import { handler as list } from '../../functions/profileFields/list.ts';
import { handler as reorder } from '../../functions/profileFields/reorder.ts';
import { handler as update } from '../../functions/profileFields/update.ts';
import { handler as get } from '../../functions/users/get.ts';
import { handler as fillIn } from '../../functions/users/updateProfileData.ts';
import type { Person, Reply, TestRealm } from './realm.ts';
import { told } from './subscription-state.ts';

type Given = Readonly<Record<string, unknown>>;

/** The types by the words of the specification (2.6). */
export const types = {
  shortText: 1,
  paragraph: 2,
  dropdown: 3,
  date: 4,
  link: 5,
  users: 6,
  externalAccount: 7,
  pronouns: 8,
} as const;

/** What else a type needs, so that a field of it can be made. */
export const dataFor = (type: number): Given => {
  if (type === types.dropdown) return { field_data: { a: { text: 'Apple', order: '1' } } };
  if (type === types.externalAccount) {
    return { field_data: { subtype: 'custom', url_pattern: 'https://example.com/%(username)s' } };
  }
  return {};
};

/** Creates a field as an administrator, or as somebody else, through the endpoint. */
export const tryToCreate = (
  realm: TestRealm,
  field_type: unknown,
  given: Given = {},
  as: Person = realm.people.admin,
): Promise<Reply> => realm.call(create, as, { field_type, ...given });

/** The same, where it must succeed, with what the type needs; returns the id. */
export async function createField(realm: TestRealm, type: number, given: Given = {}): Promise<number> {
  const { status, body } = await tryToCreate(realm, type, { ...dataFor(type), ...given });
  expect({ status, msg: body.msg }).toEqual({ status: 200, msg: '' });
  return body.id;
}

export const edit = (
  realm: TestRealm,
  fieldId: number,
  given: Given,
  as: Person = realm.people.admin,
): Promise<Reply> => realm.call(update, as, given, { path: { field_id: fieldId } });

export const deleteField = (
  realm: TestRealm,
  fieldId: number,
  as: Person = realm.people.admin,
): Promise<Reply> => realm.call(remove, as, {}, { path: { field_id: fieldId } });

export const sort = (realm: TestRealm, order: unknown, as: Person = realm.people.admin): Promise<Reply> =>
  realm.call(reorder, as, { order });

/** All fields as they are listed. */
export async function fields(realm: TestRealm): Promise<Reply['body'][]> {
  return (await realm.call(list, realm.people.guest)).body.custom_fields;
}

/** Fills in fields of the profile of a user, as themselves. */
export const fill = (
  realm: TestRealm,
  as: Person,
  values: readonly { readonly id: number; readonly value: unknown }[],
): Promise<Reply> => realm.call(fillIn, as, { data: values });

/** The same, where it must succeed. */
export async function filled(realm: TestRealm, as: Person, id: number, value: unknown): Promise<void> {
  const { status, body } = await fill(realm, as, [{ id, value }]);
  expect({ status, msg: body.msg }).toEqual({ status: 200, msg: '' });
}

/** What a user's profile says. */
export async function profileOf(
  realm: TestRealm,
  { userId }: Person,
  as: Person = realm.people.owner,
): Promise<Reply['body']> {
  const query = { include_custom_profile_fields: true };
  const { body } = await realm.call(get, as, {}, { path: { user: userId }, query });
  return body.user.profile_data;
}

/** The events of fields after this number of the log. */
export async function toldOfFields(realm: TestRealm, after: number): Promise<object[][]> {
  const events = (await told(realm, after)).filter(({ payload }) => payload.type === 'custom_profile_fields');
  for (const { hearers } of events) expect(hearers).toEqual({ everyone: 'all' });
  return events.map(({ payload }) => payload.fields as object[]);
}

/** The events of profiles after this number of the log. */
export async function toldOfProfiles(realm: TestRealm, after: number): Promise<object[]> {
  const events = (await told(realm, after)).filter(({ payload }) => payload.type === 'realm_user');
  for (const { hearers } of events) expect(hearers).toEqual({ everyone: 'all' });
  return events.map(({ payload: { op, person } }) => {
    expect(op).toBe('update');
    return person as object;
  });
}
