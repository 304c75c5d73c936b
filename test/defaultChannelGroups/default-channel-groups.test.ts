import { describe, expect, it } from 'vitest';
import { handler as create } from '../../functions/defaultChannelGroups/create.ts';
import { handler as remove } from '../../functions/defaultChannelGroups/delete.ts';
import { handler as update } from '../../functions/defaultChannelGroups/update.ts';
import { handler as updateChannels } from '../../functions/defaultChannelGroups/updateChannels.ts';
import { handler as register } from '../../functions/events/register.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { badRequest, notPermitted, payloadsAfter } from '../support/realm-state.ts';
import { lastNumber } from '../support/stored.ts';

const asked = { group_name: 'Makers', description: 'What we make', stream_names: ['random'] };

/** The groups as a new client of a user gets them. */
async function groupsFor(realm: TestRealm, person: Person): Promise<unknown> {
  const { body } = await realm.call(register, person, { event_types: ['default_stream_groups'] });
  return body.realm_default_stream_groups;
}

async function givenGroup(realm: TestRealm, more: object = {}): Promise<number> {
  const { body } = await realm.call(create, realm.people.admin, { ...asked, ...more });
  expect(body).toMatchObject({ result: 'success' });
  return body.id;
}

describe('default channel groups (companion facts 4.8)', () => {
  it('are created, changed and deleted, with the whole list in an event for members, and none for guests', async () => {
    const realm = await newRealm();
    const { admin, member, guest } = realm.people;
    const { random } = realm.channels;
    const { channelId, name } = await givenChannel(realm);
    const heard = { event_types: ['default_stream_groups'] };
    const [client, stranger] = [
      await givenClient(realm, member, heard),
      await givenClient(realm, guest, heard),
    ];
    const told = async () =>
      (await client.poll()).map(({ default_stream_groups: groups }: Record<string, unknown>) => groups);

    const id = await givenGroup(realm);
    const group = { id, name: 'Makers', description: 'What we make', streams: [random] };
    expect(await told()).toEqual([[group]]);
    const options = { path: { group_id: id } };
    await realm.call(update, admin, { new_group_name: 'Builders', new_description: '' }, options);
    const renamed = { ...group, name: 'Builders', description: '' };
    expect(await told()).toEqual([[renamed]]);
    const names = { stream_names: [name.toUpperCase(), name] };
    await realm.call(updateChannels, admin, { op: 'add', ...names }, options);
    expect(await told()).toEqual([[{ ...renamed, streams: [random, channelId] }]]);
    await realm.call(updateChannels, admin, { op: 'remove', stream_names: ['random'] }, options);
    const last = [{ ...renamed, streams: [channelId] }];
    expect(await told()).toEqual([last]);
    expect(await groupsFor(realm, member)).toEqual(last);
    expect(await groupsFor(realm, guest)).toEqual([]);
    await realm.call(remove, admin, {}, options);
    expect(await told()).toEqual([[]]);
    expect(await stranger.poll()).toEqual([]);
  });

  it('can be changed only by administrators', async () => {
    const realm = await newRealm();
    const { moderator } = realm.people;
    const options = { path: { group_id: await givenGroup(realm) } };
    expect(await realm.call(create, moderator, asked)).toMatchObject(notPermitted);
    expect(await realm.call(update, moderator, { new_description: '' }, options)).toMatchObject(notPermitted);
    const change = { op: 'remove', stream_names: ['random'] };
    expect(await realm.call(updateChannels, moderator, change, options)).toMatchObject(notPermitted);
    expect(await realm.call(remove, moderator, {}, options)).toMatchObject(notPermitted);
  });

  it('refuse invalid names, descriptions and channels, and change nothing then', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const options = { path: { group_id: await givenGroup(realm) } };
    await givenGroup(realm, { group_name: 'Others' });
    const secret = await givenChannel(realm, { isPrivate: true });
    const old = await givenChannel(realm, { isArchived: true });
    const many = Array.from({ length: 51 }, (_, i) => `channel ${i}`);
    const before = await lastNumber(realm);
    const add = { op: 'add', stream_names: ['random'] };
    const unknown = { path: { group_id: 999_999 } };
    const refused = [
      ...[
        { group_name: ' ' },
        { group_name: 'x'.repeat(61) },
        { group_name: 'a\u0000b' },
        { group_name: 'makers' },
        { group_name: 'New', description: 'x'.repeat(1_025) },
        ...[['nowhere'], [''], ['general'], [secret.name], [old.name], many].map((stream_names) => ({
          group_name: 'New',
          stream_names,
        })),
      ].map((wrong) => realm.call(create, admin, { ...asked, ...wrong })),
      ...[{}, { new_group_name: 'others' }, { new_description: 'x'.repeat(1_025) }].map((wrong) =>
        realm.call(update, admin, wrong, options),
      ),
      realm.call(updateChannels, admin, add, options),
      realm.call(updateChannels, admin, { op: 'remove', stream_names: ['general'] }, options),
      realm.call(updateChannels, admin, { op: 'swap', stream_names: [] }, options),
      realm.call(update, admin, { new_description: '' }, unknown),
      realm.call(updateChannels, admin, add, unknown),
      realm.call(remove, admin, {}, unknown),
    ];
    for (const reply of await Promise.all(refused)) expect(reply).toMatchObject(badRequest);
    expect(await payloadsAfter(realm, before)).toEqual([]);
  });

  it('have at most 50,000 bytes together', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const replies = [];
    for (let n = 0; n < 47; n++) {
      const group = { group_name: `Group ${n}`, description: 'x'.repeat(1_024), stream_names: [] };
      replies.push(await realm.call(create, admin, group));
    }
    expect(replies.at(-1)).toMatchObject(badRequest);
    expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThan(40);
  });

  it('keep both of two concurrent changes', async () => {
    const realm = await newRealm();
    const [one, other] = [realm.container(), realm.container()];
    const { admin } = realm.people;
    await Promise.all([
      one.call(create, admin, asked),
      other.call(create, admin, { ...asked, group_name: 'Others' }),
    ]);
    expect(await groupsFor(realm, admin)).toHaveLength(2);
  });
});
