import { expect } from 'vitest';
import { handler as create } from '../../functions/channelFolders/create.ts';
import { handler as list } from '../../functions/channelFolders/list.ts';
import { handler as reorder } from '../../functions/channelFolders/reorder.ts';
import { handler as update } from '../../functions/channelFolders/update.ts';
import type { Person, Reply, TestRealm } from './realm.ts';
import { told } from './subscription-state.ts';

type Given = Readonly<Record<string, unknown>>;

/** Creates a folder as an administrator, or as somebody else, through the endpoint. */
export const tryToCreate = (
  realm: TestRealm,
  name: string,
  given: Given = {},
  as: Person = realm.people.admin,
): Promise<Reply> => realm.call(create, as, { name, description: '', ...given });

/** The same, where it must succeed; returns the id. */
export async function createFolder(realm: TestRealm, name: string, given: Given = {}): Promise<number> {
  const { status, body } = await tryToCreate(realm, name, given);
  expect({ status, msg: body.msg }).toEqual({ status: 200, msg: '' });
  return body.channel_folder_id;
}

export const edit = (
  realm: TestRealm,
  folderId: number,
  given: Given,
  as: Person = realm.people.admin,
): Promise<Reply> => realm.call(update, as, given, { path: { channel_folder_id: folderId } });

export const sort = (realm: TestRealm, order: unknown, as: Person = realm.people.admin): Promise<Reply> =>
  realm.call(reorder, as, { order });

/** All folders as they are listed, archived ones too. */
export async function folders(realm: TestRealm): Promise<Reply['body'][]> {
  const { body } = await realm.call(list, realm.people.guest, {}, { query: { include_archived: true } });
  return body.channel_folders;
}

/** The events of folders after this number of the log. */
export async function toldOfFolders(realm: TestRealm, after: number): Promise<object[]> {
  const events = (await told(realm, after)).filter(({ payload }) => payload.type === 'channel_folder');
  for (const { hearers } of events) expect(hearers).toEqual({ everyone: 'all' });
  return events.map(({ payload: { type, ...payload } }) => payload);
}
