import { describe, expect, it } from 'vitest';
import { handler as list } from '../../functions/channelFolders/list.ts';
import { type Mishap, mishaps } from '../support/faults.ts';
import { createFolder, edit, folders, sort, toldOfFolders } from '../support/folder-state.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const refused = { status: 400, body: { code: 'BAD_REQUEST' } };

/** Three folders, the second one archived. */
async function threeFolders() {
  const realm = await newRealm();
  const [a, b, c] = [
    await createFolder(realm, 'a'),
    await createFolder(realm, 'b'),
    await createFolder(realm, 'c'),
  ];
  expect((await edit(realm, b, { is_archived: true })).status).toBe(200);
  return { realm, a, b, c };
}

describe('PATCH /channel_folders', () => {
  it('sorts the folders and sends an event; new ones come last (wire facts 5, 14.6)', async () => {
    const { realm, a, b, c } = await threeFolders();
    const before = await lastNumber(realm);
    expect((await sort(realm, [c, a, b])).body).toEqual({ result: 'success', msg: '' });
    expect(await toldOfFolders(realm, before)).toEqual([{ op: 'reorder', order: [c, a, b] }]);
    const d = await createFolder(realm, 'd');
    expect((await folders(realm)).map(({ id, order }) => [id, order])).toEqual([
      [c, 0],
      [a, 1],
      [b, 2],
      [d, d],
    ]);
    expect((await sort(realm, [d, c, b, a])).status).toBe(200);
    expect((await folders(realm)).map(({ id }) => id)).toEqual([d, c, b, a]);
  });

  it('requires the id of each folder once, archived ones too', async () => {
    const { realm, a, b, c } = await threeFolders();
    const before = await lastNumber(realm);
    for (const order of [[], [a, c], [a, a, b, c], [a, b, c, 999_999], [a, b, 0], [a, a, b]]) {
      expect(await sort(realm, order)).toMatchObject(refused);
    }
    for (const order of ['x', '7', '{}', '["1"]', '[1.5]']) {
      expect(await sort(realm, order)).toMatchObject(refused);
    }
    expect(await toldOfFolders(realm, before)).toEqual([]);
    expect((await folders(realm)).map(({ id }) => id)).toEqual([a, b, c]);
  });

  it('refuses users who are not administrators', async () => {
    const { realm, a, b, c } = await threeFolders();
    for (const who of ['moderator', 'member', 'guest', 'bot'] as const) {
      expect(await sort(realm, [a, b, c], realm.people[who])).toMatchObject({
        status: 400,
        body: { code: 'UNAUTHORIZED_PRINCIPAL' },
      });
    }
  });

  it('ends in the order of the last event after concurrent sorting', async () => {
    const { realm, a, b, c } = await threeFolders();
    const before = await lastNumber(realm);
    const orders = [
      [a, c, b],
      [b, a, c],
      [c, b, a],
      [b, c, a],
    ];
    const replies = await Promise.all(orders.map((order) => sort(realm.container(), order)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const events = (await toldOfFolders(realm, before)) as { order: number[] }[];
    expect(events).toHaveLength(4);
    expect((await folders(realm)).map(({ id }) => id)).toEqual(events.at(-1)?.order);
  });

  it('sends the event of a late order after that of the one before it, even if its number was allocated earlier', async () => {
    const { realm, a, b, c } = await threeFolders();
    const before = await lastNumber(realm);
    const meanwhile: Mishap = async (go) => {
      expect((await sort(realm, [b, c, a])).status).toBe(200);
      return go();
    };
    expect((await sort(realm.container(mishaps({ transact: [meanwhile] })), [c, b, a])).status).toBe(200);
    expect(await toldOfFolders(realm, before)).toEqual([
      { op: 'reorder', order: [b, c, a] },
      { op: 'reorder', order: [c, b, a] },
    ]);
    expect((await folders(realm)).map(({ id }) => id)).toEqual([c, b, a]);
  });
});

describe('GET /channel_folders', () => {
  it('lists folders to everybody, archived ones only when asked (wire facts 5)', async () => {
    const { realm, a, b, c } = await threeFolders();
    const ids = async (query: Readonly<Record<string, unknown>>) =>
      (await realm.call(list, realm.people.guest, {}, { query })).body.channel_folders.map(
        ({ id }: { readonly id: number }) => id,
      );
    expect(await ids({})).toEqual([a, c]);
    expect(await ids({ include_archived: false })).toEqual([a, c]);
    expect(await ids({ include_archived: true })).toEqual([a, b, c]);
    expect(
      await realm.call(list, realm.people.member, {}, { query: { include_archived: 'yes' } }),
    ).toMatchObject(refused);
  });
});
