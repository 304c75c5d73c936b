import { describe, expect, it } from 'vitest';
import { handler as create } from '../../functions/channelFolders/create.ts';
import { createFolder, edit, folders, toldOfFolders, tryToCreate } from '../support/folder-state.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const refused = { status: 400, body: { code: 'BAD_REQUEST' } };

describe('POST /channel_folders/create', () => {
  it('creates a folder, renders its description and sends everyone an event (wire facts 5) (4.3/channel_folder_id)', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const before = await lastNumber(realm);
    const description = `For **cooks**, @**Max Member** and #**general**`;
    const id = await createFolder(realm, 'Kitchen', { description });
    const [folder, ...others] = await folders(realm);
    expect(others).toEqual([]);
    expect(folder).toEqual({
      id,
      name: 'Kitchen',
      description,
      rendered_description: expect.stringContaining('<strong>cooks</strong>'),
      date_created: expect.any(Number),
      creator_id: admin.userId,
      is_archived: false,
      order: id,
    });
    expect(folder.rendered_description).toContain(`data-user-id="${member.userId}"`);
    expect(Math.abs(folder.date_created - realm.outside.now() / 1000)).toBeLessThan(5);
    expect(await toldOfFolders(realm, before)).toEqual([{ op: 'add', channel_folder: folder }]);
  });

  it('takes an empty description, and owners (specification 4.3: "may be the empty string") (4.3/description)', async () => {
    const realm = await newRealm();
    const { status } = await tryToCreate(realm, 'Kitchen', {}, realm.people.owner);
    expect(status).toBe(200);
    expect((await folders(realm))[0]).toMatchObject({ description: '', rendered_description: '' });
  });

  it.each(['moderator', 'member', 'guest', 'bot'] as const)(
    'refuses a %s (specification 4.3: UNAUTHORIZED_PRINCIPAL) (4.3/administrators)',
    async (who) => {
      const realm = await newRealm();
      expect(await tryToCreate(realm, 'Kitchen', {}, realm.people[who])).toMatchObject({
        status: 400,
        body: { code: 'UNAUTHORIZED_PRINCIPAL' },
      });
      expect(await folders(realm)).toEqual([]);
    },
  );

  it.each(['name', 'description'])(
    'requires the %s (specification 4.3: required) (4.3/name, 4.3/description)',
    async (name) => {
      const realm = await newRealm();
      const { [name]: _, ...given }: Record<string, unknown> = { name: 'x', description: '' };
      expect(await realm.call(create, realm.people.admin, given)).toMatchObject({
        status: 400,
        body: { code: 'REQUEST_VARIABLE_MISSING', var_name: name },
      });
    },
  );

  it.each([
    ['an empty name', '', ''],
    ['a blank name (wire facts 5)', ' \t ', ''],
    ['a name that is too long (specification 4.3)', '😀'.repeat(61), ''],
    ['a description that is too long (specification 4.3)', 'x', '😀'.repeat(1_025)],
    ['a name with NUL', 'a\0b', ''],
  ])('refuses %s (4.3/name, 4.3/name-length, 4.3/description-length)', async (_, name, description) => {
    const realm = await newRealm();
    expect(await tryToCreate(realm, name, { description })).toMatchObject(refused);
    expect(await folders(realm)).toEqual([]);
  });

  it('says where a name has an unprintable character (wire facts 5: "1-based position")', async () => {
    const realm = await newRealm();
    const { status, body } = await tryToCreate(realm, '😀b\u{7}');
    expect(status).toBe(400);
    expect(body.msg).toContain('position 3');
  });

  it('takes names and descriptions of the full length, counted in code points (4.3/name-length, 4.3/description-length)', async () => {
    const realm = await newRealm();
    const name = '😀'.repeat(60);
    const description = '😀'.repeat(1_024);
    await createFolder(realm, name, { description });
    expect((await folders(realm))[0]).toMatchObject({ name, description });
  });

  it('keeps names unique in any case (wire facts 5), also under concurrent requests', async () => {
    const realm = await newRealm();
    await createFolder(realm, 'Äpfel');
    for (const name of ['Äpfel', 'äPFEL', 'A\u0308pfel', ' Äpfel ']) {
      expect(await tryToCreate(realm, name)).toMatchObject(refused);
    }
    const before = await lastNumber(realm);
    const replies = await Promise.all(
      ['birnen', 'Birnen', 'BIRNEN', 'birNen'].map((name) => tryToCreate(realm.container(), name)),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    for (const { body } of replies) if (body.result === 'error') expect(body.msg).toMatch(/already/);
    expect(await toldOfFolders(realm, before)).toHaveLength(1);
  });

  it('lets the name of an archived folder be used again (wire facts 5)', async () => {
    const realm = await newRealm();
    const first = await createFolder(realm, 'Kitchen');
    expect((await edit(realm, first, { is_archived: true })).status).toBe(200);
    await createFolder(realm, 'kitchen');
    expect(await edit(realm, first, { is_archived: false })).toMatchObject(refused);
    expect((await edit(realm, first, { is_archived: false, name: 'Scullery' })).status).toBe(200);
  });
});
