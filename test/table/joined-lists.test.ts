import { expect, it } from 'vitest';
import { key } from '../../shared/table/keys.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

const SPANS = [
  ['dialogue', 'membership'],
  ['snippet', 'star'],
] as const;

/** A user with items of several kinds, and the table on which two spans of them are joined. */
async function givenLists() {
  const realm = await newRealm();
  const { userId } = realm.people.guest;
  const of = { realm: realm.realm, userId };
  const put = (at: ReturnType<typeof key>, item: object) => realm.outside.table.put(at, { ...item });
  for (const snippetId of [201, 202]) await put(key('snippet', { ...of, snippetId }), { snippetId });
  await put(key('star', { ...of, messageId: 203 }), { messageId: 203 });
  await put(key('membership', { ...of, groupId: 204 }), { groupId: 204 });
  const container = realm.container();
  container.meter.reset();
  return { of, container, table: container.outside.table.joined(of, SPANS) };
}

const queries = ({ meter }: Pick<TestRealm, 'meter'>): number => meter.calls.length;

it('lists of a joined range take one query, and each has its own items, in order', async () => {
  const { of, container, table } = await givenLists();
  const [snippets, stars] = await Promise.all([table.all('snippet', of), table.all('star', of)]);
  expect(snippets.map(({ snippetId }) => snippetId)).toEqual([201, 202]);
  expect(stars.map(({ messageId }) => messageId)).toEqual([203]);
  expect(queries(container)).toBe(1);
  expect((await table.all('membership', of)).map(({ groupId }) => groupId)).toEqual([204]);
  expect(await table.all('dialogue', of)).toEqual([]);
  expect(queries(container)).toBe(2);
});

it('a list of another joined range, user or key range takes its own query', async () => {
  const { of, container, table } = await givenLists();
  await table.all('snippet', of);
  expect(await table.all('subscription', of)).toHaveLength(1);
  expect(await table.all('snippet', { ...of, userId: 1 })).toEqual([]);
  expect(await table.all('star', of, { from: { messageId: 204 } })).toEqual([]);
  expect(await table.all('snippet', of, { limit: 1, descending: true })).toHaveLength(1);
  expect(queries(container)).toBe(5);
});
