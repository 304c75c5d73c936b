import { createHash } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { handler as update } from '../../functions/realm/update.ts';
import { endpoints } from '../../shared/endpoints/all.ts';
import { defaultRealmSettings, itemVersions, versions } from '../../shared/model/realm/realm.ts';
import { type Key, key } from '../../shared/table/keys.ts';
import { tableClient } from '../../shared/table/protocol.ts';
import { ItemVersions, NewerItem, newestOf, type Versions } from '../../shared/table/stored-item.ts';
import { Table } from '../../shared/table/table.ts';
import type { Item } from '../../shared/table/write.ts';
import { handlers } from '../support/handlers.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { TABLE } from '../support/store.ts';

process.env.AWS_ACCESS_KEY_ID ??= 'test';
process.env.AWS_SECRET_ACCESS_KEY ??= 'test';

/** Statuses whose second version says in which language they are. */
const statuses = (writes: 1 | 2): Versions => ({
  kind: 'userStatus',
  lifts: [(item) => ({ ...item, language: item.language ?? 'en' })],
  writes,
});

const release = (...kinds: readonly Versions[]): Table =>
  new Table(TABLE, tableClient({ AWS_ENDPOINT_URL_DYNAMODB: inject('dynamodb') }), new ItemVersions(kinds));

/** The three releases by which a second version comes: none knows it, all can read it, all write it. */
const before = release();
const readers = release(statuses(1));
const writers = release(statuses(2));

const statusOf = ({ realm }: TestRealm) => key('userStatus', { realm, userId: 1 });

/** The item as it is in the store. */
async function stored({ pk, sk }: { pk: string; sk: string }): Promise<Item | undefined> {
  return (await before.storedPage({ pk, from: sk, to: sk })).items[0];
}

describe('two releases with different versions of an item', () => {
  it('are compatible while the newer one only reads the new version', async () => {
    const at = statusOf(await newRealm());
    await readers.put(at, { text: 'away', language: 'de' });
    expect(await before.get(at)).toMatchObject({ text: 'away' });
    await before.put(at, { text: 'back' });
    expect(await readers.get(at)).toEqual({ ...at, text: 'back', language: 'en' });
  });

  it('are compatible if the newer one writes a version that the older one can read', async () => {
    const realm = await newRealm();
    const at = statusOf(realm);
    await writers.put(at, { text: 'away', language: 'de' });
    expect(await stored(at)).toEqual({ ...at, text: 'away', language: 'de', v: 2 });
    expect(await readers.get(at)).toEqual({ ...at, text: 'away', language: 'de' });
    await readers.update(at, { set: { text: 'here' } });
    expect(await writers.all('userStatus', realm)).toEqual([{ ...at, text: 'here', language: 'de' }]);
    await readers.put(at, { text: 'back', language: 'fr' });
    expect(await writers.get(at)).toEqual({ ...at, text: 'back', language: 'fr' });
  });

  it.each([
    ['a look-up', (table, at) => table.get(at)],
    ['a query', (table, _, realm) => table.all('userStatus', realm)],
    ['the reply to an update', (table, at) => table.update(at, { set: { text: 'here' } })],
    [
      'a refused transaction',
      (table, at) => table.transact([{ check: at, when: { absent: true } }], crypto.randomUUID()),
    ],
    [
      'a transaction that would put another in its place',
      (table, at) => table.transact([{ put: at, item: { text: 'mine' } }], crypto.randomUUID()),
    ],
  ] satisfies [string, (table: Table, at: Key, realm: TestRealm) => Promise<unknown>][])(
    'do not guess: %s fails in the one that is too old',
    async (_, use) => {
      const realm = await newRealm();
      const at = statusOf(realm);
      await writers.put(at, { text: 'away', language: 'de' });
      await expect(use(before, at, realm)).rejects.toThrow(NewerItem);
      expect(await writers.get(at)).toMatchObject({ language: 'de' });
    },
  );

  it('never replace a newer item by an old one, or remove unknown attributes', async () => {
    const at = statusOf(await newRealm());
    await writers.put(at, { text: 'away', language: 'de' });
    await expect(before.put(at, { text: 'mine' })).rejects.toThrow(/conditional/i);
    await expect(before.update(at, { set: { text: 'here' } })).rejects.toThrow(NewerItem);
    expect(await stored(at)).toEqual({ ...at, text: 'here', language: 'de', v: 2 });
  });

  it('report to the operator which one is too old, and nothing to the client', async () => {
    const realm = await newRealm();
    await realm.outside.table
      .update(key('realm', { realm: realm.realm }), { set: { v: 99 } })
      .catch(() => {});
    const reply = await realm.call(update, realm.people.owner, { name: 'Other' });
    expect(reply.status).toBe(500);
    expect(JSON.stringify(reply.body)).not.toMatch(/version|item|release|99/);
    const [line] = realm.reports;
    expect(line).toMatchObject({ level: 'ERROR', endpoint: 'realm.update' });
    expect(line?.error).toContain('an item (realm) has version 99, and this release knows versions up to 3');
  });

  it('report neither the key nor the content of an item', async () => {
    const at = key('mailToken', { token: 'secret-token' });
    const newer = { ...at, v: 2, text: 'secret-text' };
    expect(() => itemVersions.lifted(newer)).toThrow(/^an item \(mailToken\) has version 2,/);
    expect(() => itemVersions.lifted(newer)).toThrow(expect.not.stringContaining('secret'));
  });
});

describe('every version', () => {
  it.each(versions)(
    'of $kind is upgraded to the same result, even if it is upgraded already',
    ({ lifts }) => {
      for (const [i, lift] of lifts.entries()) {
        const first = lift({ a: 1 });
        expect(lift(first), `version ${i + 1}`).toEqual(first);
      }
    },
  );

  it.each(versions)('of $kind is written in the newest version at most', ({ lifts, writes }) => {
    expect(writes).toBeGreaterThanOrEqual(lifts.length);
    expect(writes).toBeLessThanOrEqual(lifts.length + 1);
  });
});

describe('an organization that an older release made', () => {
  /** Which settings each version has. One that comes adds a version (`lifts`) and a line here; no line ever changes. */
  const settingsOf: Readonly<Record<number, string>> = {
    2: '632a477e67916ed9',
    3: '220f8c2679a49148',
  };

  /** Takes the organization back to what it was. */
  const age = ({ outside: { table }, realm }: TestRealm, item: Item) =>
    table.update(key('realm', { realm }), { set: item, ...(item.v === undefined && { remove: ['v'] }) });

  it('has all settings, and a version number for each set of settings', async () => {
    const names = Object.keys(defaultRealmSettings).sort().join();
    const newest = newestOf(versions.find(({ kind }) => kind === 'realm') ?? expect.fail());
    expect(Object.keys(settingsOf).map(Number)).toEqual(Array.from({ length: newest - 1 }, (_, i) => i + 2));
    expect(createHash('sha256').update(names).digest('hex').slice(0, 16)).toBe(settingsOf[newest]);
    const realm = await newRealm();
    await age(realm, { settings: {} });
    const found = await realm.outside.table.get('realm', { realm: realm.realm });
    expect(found?.settings).toEqual(defaultRealmSettings);
  });

  it('has the same state in the replies of all reading endpoints without parameters', async () => {
    const realm = await newRealm();
    const asking = endpoints.filter(
      ({ id, method, path, parameters, serves }) =>
        (method === 'GET' || id === 'events.register') &&
        !path.includes('{') &&
        serves === undefined &&
        Object.values(parameters).every(({ required }) => !required),
    );
    expect(asking.length).toBeGreaterThan(10);
    // What differs from one moment, or one queue, to the next.
    const passing = { server_timestamp: 0, presence_last_update_id: 0, queue_id: '', last_event_id: 0 };
    const ask = async (container: TestRealm) => {
      const replies = asking.map(async ({ id }) => {
        const handler = handlers.get(id) ?? expect.fail(id);
        const { status, body } = await container.call(handler, realm.people.owner);
        return [id, status, { ...body, ...passing }];
      });
      return Promise.all(replies);
    };
    const expected = await ask(realm);
    await age(realm, { settings: {} });
    expect(await ask(realm.container())).toEqual(expected);
    expect(realm.reports).toEqual([]);
  });
});
