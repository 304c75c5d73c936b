import { describe, expect, it } from 'vitest';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { type Mishap, mishaps } from '../support/faults.ts';
import { createFolder, edit, folders, toldOfFolders, tryToCreate } from '../support/folder-state.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import { channelIdOf } from '../support/subscription-state.ts';

const refused = { status: 400, body: { code: 'BAD_REQUEST' } };

/** Creates channels in a folder, through the endpoint. */
const createChannels = (
  realm: TestRealm,
  as: Person,
  folderId: unknown,
  ...names: string[]
): Promise<Reply> =>
  realm.call(subscribe, as, { subscriptions: names.map((name) => ({ name })), folder_id: folderId });

describe('PATCH /channel_folders/{channel_folder_id}', () => {
  it('changes everything at once and sends an event for each change (wire facts 5, 14.6)', async () => {
    const realm = await newRealm();
    const id = await createFolder(realm, 'Kitchen');
    const before = await lastNumber(realm);
    const given = { name: 'Scullery', description: '*dishes*', is_archived: true };
    expect((await edit(realm, id, given)).body).toEqual({ result: 'success', msg: '' });
    const rendered_description = '<p><em>dishes</em></p>';
    expect((await folders(realm))[0]).toMatchObject({ id, ...given, rendered_description });
    expect(await toldOfFolders(realm, before)).toEqual([
      { op: 'update', channel_folder_id: id, data: { name: 'Scullery' } },
      { op: 'update', channel_folder_id: id, data: { description: '*dishes*', rendered_description } },
      { op: 'update', channel_folder_id: id, data: { is_archived: true } },
    ]);
  });

  it('sends no event if nothing changes', async () => {
    const realm = await newRealm();
    const id = await createFolder(realm, 'Kitchen', { description: 'x' });
    const before = await lastNumber(realm);
    for (const given of [{}, { name: 'Kitchen', description: 'x', is_archived: false }]) {
      expect((await edit(realm, id, given)).status).toBe(200);
    }
    expect(await toldOfFolders(realm, before)).toEqual([]);
  });

  it('changes nothing when a part is refused', async () => {
    const realm = await newRealm();
    const id = await createFolder(realm, 'Kitchen');
    await createFolder(realm, 'Taken');
    const before = await lastNumber(realm);
    for (const given of [
      { description: 'new', name: 'TAKEN' },
      { description: 'new', name: ' ' },
      { description: 'new', name: 'x'.repeat(61) },
      { description: 'new', name: 'a\u{1b}' },
      { name: 'New', description: 'x'.repeat(1_025) },
      { name: 'New', is_archived: '"yes"' },
    ]) {
      expect(await edit(realm, id, given)).toMatchObject(refused);
    }
    expect((await folders(realm)).find((folder) => folder.id === id)).toMatchObject({
      name: 'Kitchen',
      description: '',
    });
    expect(await toldOfFolders(realm, before)).toEqual([]);
  });

  it('frees the old name, and takes another spelling of its own', async () => {
    const realm = await newRealm();
    const id = await createFolder(realm, 'Kitchen');
    expect((await edit(realm, id, { name: 'KITCHEN' })).status).toBe(200);
    expect(await tryToCreate(realm, 'kitchen')).toMatchObject(refused);
    expect((await edit(realm, id, { name: 'Scullery' })).status).toBe(200);
    await createFolder(realm, 'kitchen');
  });

  it('gives a name to only one of several concurrent requests that rename, unarchive or create', async () => {
    const realm = await newRealm();
    const archived = await createFolder(realm, 'Kitchen');
    expect((await edit(realm, archived, { is_archived: true })).status).toBe(200);
    const other = await createFolder(realm, 'Other');
    const replies = await Promise.all([
      edit(realm.container(), archived, { is_archived: false }),
      edit(realm.container(), other, { name: 'kitchen' }),
      tryToCreate(realm.container(), 'KITCHEN'),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });

  it('refuses users who are not administrators, and unknown folders', async () => {
    const realm = await newRealm();
    const id = await createFolder(realm, 'Kitchen');
    for (const who of ['moderator', 'member', 'guest', 'bot'] as const) {
      expect(await edit(realm, id, { name: 'x' }, realm.people[who])).toMatchObject({
        status: 400,
        body: { code: 'UNAUTHORIZED_PRINCIPAL' },
      });
    }
    for (const other of [999_999, 0]) expect(await edit(realm, other, { name: 'x' })).toMatchObject(refused);
  });

  it('ends in the state of the last event after concurrent edits of one folder', async () => {
    const realm = await newRealm();
    const id = await createFolder(realm, 'Kitchen');
    const before = await lastNumber(realm);
    await Promise.all(
      ['a', 'b', 'c', 'd'].map((description) => edit(realm.container(), id, { description })),
    );
    const events = (await toldOfFolders(realm, before)) as { data: object }[];
    expect(events).toHaveLength(4);
    expect((await folders(realm))[0]).toMatchObject(events.at(-1)?.data ?? {});
  });
});

describe('folders with channels (wire facts 5: "archiving a folder that still has channels: error")', () => {
  it('cannot be archived', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await createFolder(realm, 'Kitchen');
    expect((await createChannels(realm, member, id, 'stove', 'sink')).status).toBe(200);
    expect(await edit(realm, id, { is_archived: true })).toMatchObject(refused);
    expect((await folders(realm))[0]).toMatchObject({ is_archived: false });
    // Everything else can be changed.
    expect((await edit(realm, id, { name: 'Scullery' })).status).toBe(200);
  });

  it('take no channels once they are archived, and cannot be used if they do not exist', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await createFolder(realm, 'Kitchen');
    expect((await edit(realm, id, { is_archived: true })).status).toBe(200);
    for (const folderId of [id, 999_999, 0]) {
      expect(await createChannels(realm, member, folderId, 'stove')).toMatchObject(refused);
    }
    expect(await channelIdOf(realm, 'stove')).toBeUndefined();
    expect((await createChannels(realm, member, null, 'stove')).status).toBe(200);
  });

  it('cannot be archived while a channel is moved into them', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await createFolder(realm, 'Kitchen');
    const meanwhile: Mishap = async (go) => {
      expect((await createChannels(realm, member, id, 'stove')).status).toBe(200);
      return go();
    };
    const late = realm.container(mishaps({ transact: [meanwhile] }));
    expect(await edit(late, id, { is_archived: true })).toMatchObject(refused);
    expect((await folders(realm))[0]).toMatchObject({ is_archived: false });
  });

  it('take no channel while they are archived', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await createFolder(realm, 'Kitchen');
    const meanwhile: Mishap = async (go) => {
      expect((await edit(realm, id, { is_archived: true })).status).toBe(200);
      return go();
    };
    const late = realm.container(mishaps({ transact: [meanwhile] }));
    expect(await createChannels(late, member, id, 'stove')).toMatchObject(refused);
    expect(await channelIdOf(realm, 'stove')).toBeUndefined();
  });
});
