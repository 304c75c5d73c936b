import { describe, expect, it } from 'vitest';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { type Event, givenClient } from '../support/event-queue.ts';
import {
  createField,
  deleteField,
  edit,
  fields,
  fill,
  filled,
  sort,
  tryToCreate,
  types,
} from '../support/field-state.ts';
import { givenUser } from '../support/given.ts';
import { newRealm, type Reply } from '../support/realm.ts';

type Field = Reply['body'];
type Profiles = Record<number, Record<string, { value: string; rendered_value?: string }>>;

/** What a client knows of fields and profiles. */
interface Known {
  readonly fields: readonly Field[];
  readonly profiles: Profiles;
}

const stateOf = ({ custom_profile_fields, realm_users }: Reply['body']): Known => ({
  fields: custom_profile_fields,
  profiles: Object.fromEntries(
    realm_users
      .filter(({ is_bot }: Reply['body']) => !is_bot)
      .map(({ user_id, profile_data }: Reply['body']) => [user_id, profile_data]),
  ),
});

/** What a client knows after an event: values leave with their field, or with their choice. */
function after({ fields, profiles }: Known, event: Event): Known {
  if (event.type === 'realm_user') {
    const { user_id, custom_profile_field } = event.person;
    const { id, ...value } = custom_profile_field;
    const { [id]: _, ...others } = profiles[user_id] ?? {};
    const profile = value.value === null ? others : { ...others, [id]: value };
    return { fields, profiles: { ...profiles, [user_id]: profile } };
  }
  const choices = new Map<string, object | undefined>(
    event.fields.map(({ id, type, field_data }: Field) => [
      String(id),
      type === types.dropdown ? JSON.parse(field_data) : undefined,
    ]),
  );
  const isThere = ([id, { value }]: [string, { value: string }]): boolean =>
    choices.has(id) && Object.hasOwn(choices.get(id) ?? { [value]: true }, value);
  return {
    fields: event.fields,
    profiles: Object.fromEntries(
      Object.entries(profiles).map(([userId, profile]) => [
        userId,
        Object.fromEntries(Object.entries(profile).filter(isThere)),
      ]),
    ),
  };
}

const asked = {
  fetch_event_types: ['custom_profile_fields', 'realm_user'],
  event_types: ['custom_profile_fields', 'realm_user'],
};

describe('the state of profiles', () => {
  it('has the fields, their types, and the values of profiles (2.6, wire facts 6)', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const id = await createField(realm, types.shortText, { display_in_profile_summary: true });
    await filled(realm, member, id, '*x*');
    const { state } = await givenClient(realm, guest, asked);
    expect(state.custom_profile_fields).toEqual(await fields(realm));
    expect(
      Object.values<{ id: number }>(state.custom_profile_field_types)
        .map((type) => type.id)
        .sort(),
    ).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const { profiles } = stateOf(state);
    expect(profiles[member.userId]).toEqual({ [id]: { value: '*x*', rendered_value: '<p><em>x</em></p>' } });
    expect(profiles[guest.userId]).toEqual({});
    const bot = state.realm_users.find(({ is_bot }: { is_bot: boolean }) => is_bot);
    expect(bot).not.toHaveProperty('profile_data');
  });

  it('equals the state of clients that followed the events of every change', async () => {
    const realm = await newRealm();
    const { member, admin, guest } = realm.people;
    const client = await givenClient(realm, guest, asked);
    let known = stateOf(client.state);
    const settle = async () => {
      known = (await client.poll()).reduce(after, known);
      expect(known).toEqual(stateOf((await givenClient(realm, guest, asked)).state));
    };
    const text = await createField(realm, types.shortText, { name: 'Text' });
    const fruit = await createField(realm, types.dropdown, {
      name: 'Fruit',
      field_data: { a: { text: 'Apple', order: '1' }, b: { text: 'Pear', order: '2' } },
    });
    await settle();
    const values = [
      { id: text, value: '*x*' },
      { id: fruit, value: 'b' },
    ];
    for (const person of [member, admin]) expect((await fill(realm, person, values)).status).toBe(200);
    await settle();
    expect((await sort(realm, [fruit, text])).status).toBe(200);
    await settle();
    expect((await fill(realm, admin, [{ id: text, value: '' }])).status).toBe(200);
    await settle();
    const field_data = { a: { text: 'Apple', order: '1' } };
    expect((await edit(realm, fruit, { field_data, hint: 'One a day' })).status).toBe(200);
    await settle();
    expect((await deleteField(realm, text)).status).toBe(200);
    await settle();
    expect((await tryToCreate(realm, types.shortText, { name: 'Text' })).status).toBe(200);
    await settle();
  });

  it('hides from a guest values that name users whom they may not see (wire facts 3.8)', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const guest = await givenUser(realm, { role: 600 });
    const stranger = await givenUser(realm);
    const id = await createField(realm, types.shortText);
    await filled(realm, stranger, id, 'secret');
    const client = await givenClient(realm, guest, { ...asked, fetch_event_types: null });
    expect(JSON.stringify(client.state)).not.toContain('secret');
    await filled(realm, stranger, id, 'secret too');
    await filled(realm, guest, id, 'mine');
    const events = await client.poll();
    expect(events.map(({ person }) => person.user_id)).toEqual([guest.userId]);
  });
});
