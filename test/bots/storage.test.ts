import { describe, expect, it } from 'vitest';
import { handler as getStorage } from '../../functions/bots/getStorage.ts';
import { handler as removeStorage } from '../../functions/bots/removeStorage.ts';
import { handler as updateStorage } from '../../functions/bots/updateStorage.ts';
import { MAX_KEYS, MAX_STORED } from '../../shared/domain/account/bot-storage.ts';
import { meanwhile } from '../support/faults.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

const put = (realm: TestRealm, storage: object, as = realm.people.bot) =>
  realm.call(updateStorage, as, { storage });

const stored = async (realm: TestRealm, keys?: readonly string[]) =>
  (await realm.call(getStorage, realm.people.bot, {}, { query: keys === undefined ? {} : { keys } })).body
    .storage;

describe('the storage of a bot (companion facts 3.9)', () => {
  it('stores values by key, and a change leaves other keys alone', async () => {
    const realm = await newRealm();
    expect((await put(realm, { a: '1', '😀 b': '2' })).body).toEqual({ result: 'success', msg: '' });
    expect((await put(realm, { a: '3', c: '' })).status).toBe(200);
    expect(await stored(realm)).toEqual({ a: '3', c: '', '😀 b': '2' });
    expect(await stored(realm, ['c', 'a', 'a'])).toEqual({ a: '3', c: '' });
    expect((await realm.call(removeStorage, realm.people.bot, { keys: ['a'] })).status).toBe(200);
    expect(await stored(realm)).toEqual({ c: '', '😀 b': '2' });
    expect((await realm.call(removeStorage, realm.people.bot)).status).toBe(200);
    expect(await stored(realm)).toEqual({});
  });

  it('is only for bots, and each bot has its own', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    for (const { status, body } of [
      await put(realm, { a: '1' }, owner),
      await realm.call(getStorage, owner),
      await realm.call(removeStorage, owner),
    ])
      expect([status, body.code]).toEqual([400, 'PERMISSION_DENIED']);
    const other = await newRealm();
    await put(other, { a: '1' });
    expect(await stored(realm)).toEqual({});
  });

  it('refuses to remove an unknown key, and removes nothing then', async () => {
    const realm = await newRealm();
    await put(realm, { a: '1' });
    for (const handler of [removeStorage, getStorage]) {
      const { status, body } = await realm.call(handler, realm.people.bot, { keys: ['a', 'b'] });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    }
    expect(await stored(realm)).toEqual({ a: '1' });
  });

  it.each([
    ['a value that is no text', { a: 1 }],
    ['a list', ['a']],
    ['too many keys', Object.fromEntries(Array.from({ length: MAX_KEYS + 1 }, (_, i) => [`${i}`, '']))],
  ])('refuses %s', async (_, storage) => {
    const realm = await newRealm();
    const { status, body } = await put(realm, storage);
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(await stored(realm)).toEqual({});
  });

  it('has a limit of keys and characters, and removing or shortening values makes room again', async () => {
    const realm = await newRealm();
    const value = 'x'.repeat(250_000 - 1);
    for (const key of ['a', 'b', 'c', 'd']) expect((await put(realm, { [key]: value })).status).toBe(200);
    expect(MAX_STORED).toBe(1_000_000);
    expect((await put(realm, { e: '' })).status).toBe(400);
    expect((await put(realm, { a: 'x' })).status).toBe(200);
    expect((await put(realm, { e: '' })).status).toBe(200);
    await realm.call(removeStorage, realm.people.bot);
    const keys = Object.fromEntries(Array.from({ length: MAX_KEYS }, (_, i) => [`${i}`, `${i}`]));
    expect((await put(realm, keys)).status).toBe(200);
    expect((await put(realm, { more: '' })).status).toBe(400);
    expect((await put(realm, { 0: 'again' })).status).toBe(200);
    expect((await realm.call(removeStorage, realm.people.bot)).status).toBe(200);
  });

  it('keeps and counts both of two concurrent changes', async () => {
    const realm = await newRealm();
    const slow = realm.container(meanwhile(() => put(realm, { a: 'x'.repeat(100_000) })));
    expect((await slow.call(updateStorage, realm.people.bot, { storage: { b: 'y' } })).status).toBe(200);
    expect(Object.keys(await stored(realm))).toEqual(['a', 'b']);
    const late = realm.container(
      meanwhile(() => realm.call(removeStorage, realm.people.bot, { keys: ['b'] })),
    );
    expect((await late.call(removeStorage, realm.people.bot, { keys: ['b'] })).status).toBe(400);
    expect(await stored(realm)).toEqual({ a: 'x'.repeat(100_000) });
  });
});
