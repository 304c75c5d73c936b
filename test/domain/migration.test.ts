import { randomUUID } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { handler as list } from '../../functions/messages/list.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as edit } from '../../functions/messages/update.ts';
import { handler as update } from '../../functions/realm/update.ts';
import { type Migration, migrate } from '../../infra/org/migration.ts';
import { defaultRealmSettings, versions as known } from '../../shared/model/realm/realm.ts';
import { type Key, key, partition } from '../../shared/table/keys.ts';
import { tableClient } from '../../shared/table/protocol.ts';
import { ItemVersions, type Versions, writtenVersions } from '../../shared/table/stored-item.ts';
import { type Send, Table } from '../../shared/table/table.ts';
import type { Item, Write } from '../../shared/table/write.ts';
import { newRealm } from '../support/realm.ts';
import { TABLE } from '../support/store.ts';

process.env.AWS_ACCESS_KEY_ID ??= 'test';
process.env.AWS_SECRET_ACCESS_KEY ??= 'test';

/** Statuses of the second version have their text in small letters too, as an index over it would want. */
const statuses: Versions = {
  kind: 'userStatus',
  lifts: [(item) => (item.text === undefined ? item : { ...item, folded: String(item.text).toLowerCase() })],
  writes: 2,
};

const store = tableClient({ AWS_ENDPOINT_URL_DYNAMODB: inject('dynamodb') });
const older = new Table(TABLE, store);
const newer = new Table(TABLE, store, new ItemVersions([statuses]));

const newId = (): string => `m${randomUUID()}`;
const statusOf = (realm: string, userId: number): Key<'userStatus'> => key('userStatus', { realm, userId });

const allStored = async (realm: string): Promise<(Item & Key)[]> =>
  (await older.storedPage({ pk: partition('userStatus', { realm }) })).items;

/** Writes statuses as the older release did, of so many people. */
async function givenStatuses(realm: string, count: number): Promise<void> {
  const writes = Array.from({ length: count }, (_, i): Write => {
    return { put: statusOf(realm, i), item: { text: `At ${i}`, tags: new Set([i]) } };
  });
  for (let start = 0; start < count; start += 100) {
    const outcome = await older.transact(writes.slice(start, start + 100), randomUUID());
    expect(outcome.state).toBe('done');
  }
}

const nameOf = (command: object): string => command.constructor.name.replace('Command', '');

/** Migrates by way of `send`; `sent` are the commands, in order. */
async function run(
  realm: string,
  {
    send = store,
    versions = statuses,
    ends = Number.POSITIVE_INFINITY,
    now = Date.now,
  }: Partial<{
    send: Send;
    versions: Versions;
    ends: number;
    now: () => number;
  }> = {},
) {
  const sent: string[] = [];
  const noting: Send = (command) => {
    sent.push(nameOf(command));
    return send(command);
  };
  const table = new Table(TABLE, noting, new ItemVersions([versions]));
  const result = await migrate({ table, now, wait: async () => {} }, realm, versions, ends).catch(
    (error: Error) => error,
  );
  const count = (name: string): number => sent.filter((it) => it === name).length;
  return { result, updates: count('Update'), queries: count('Query'), sent };
}

describe('a migration', () => {
  it('upgrades every item of its kind in bounded steps, and reads one item once it is complete', async () => {
    const realm = newId();
    await givenStatuses(realm, 105);
    await older.put(statusOf(realm, 300), { emoji: 'cat' });
    const first = await run(realm);
    expect(first.result).toEqual<Migration>({ version: 2, isComplete: true, changed: 105 });
    expect(first.updates).toBe(105);
    expect(first.queries).toBe(2);
    const items = await allStored(realm);
    expect(items.slice(0, 105)).toEqual(
      Array.from({ length: 105 }, (_, i) => {
        return { ...statusOf(realm, i), text: `At ${i}`, folded: `at ${i}`, tags: new Set([i]), v: 2 };
      }),
    );
    // The same in both versions: left as it is.
    expect(items[105]).toEqual({ ...statusOf(realm, 300), emoji: 'cat' });
    expect((await run(realm)).sent).toEqual(['BatchGet']);
    expect(await allStored(realm)).toEqual(items);
  });

  it('continues from any point at which it was killed', async () => {
    // 1 look-up, 1 query, 100 updates, 1 note, 1 query, 2 updates, 1 note.
    for (const last of [62, 102, 103, 106]) {
      const realm = newId();
      await givenStatuses(realm, 102);
      let left = last;
      const killed = await run(realm, {
        send: async (command) => {
          if (left-- <= 0) throw new Error('killed');
          return store(command);
        },
      });
      expect(killed.result).toBeInstanceOf(Error);
      const done = (await allStored(realm)).filter(({ v }) => v === 2).length;
      const again = await run(realm);
      expect(again.result).toMatchObject({ isComplete: true });
      expect(again.updates).toBe(102 - done);
      expect(again.queries).toBe(last < 103 ? 2 : 1);
      expect((await allStored(realm)).every(({ v, folded }) => v === 2 && folded !== undefined)).toBe(true);
    }
  });

  it('ends when its time is over, and reports its progress', async () => {
    const realm = newId();
    await givenStatuses(realm, 101);
    expect((await run(realm, { ends: 0 })).result).toEqual({ version: 2, isComplete: false, changed: 0 });
    const times = [0];
    const half = await run(realm, { ends: 1, now: () => times.pop() ?? 1 });
    expect(half.result).toEqual({
      version: 2,
      isComplete: false,
      changed: 100,
      after: statusOf(realm, 99).sk,
    });
    expect((await run(realm)).result).toEqual({ version: 2, isComplete: true, changed: 101 });
  });

  it('may run twice at once', async () => {
    const realm = newId();
    await givenStatuses(realm, 30);
    const both = await Promise.all([run(realm), run(realm)]);
    expect(both).toMatchObject([{ result: { isComplete: true } }, { result: { isComplete: true } }]);
    expect((await allStored(realm)).map(({ folded }) => folded)).toEqual(
      Array.from({ length: 30 }, (_, i) => `at ${i}`),
    );
  });

  it('waits for the release that writes the version, and refuses to go back from a later one', async () => {
    const realm = newId();
    const early = await run(realm, { versions: { ...statuses, writes: 1 } });
    expect(early.result).toEqual(new Error('version 2 of userStatus is not written yet'));
    expect(early.sent).toEqual([]);
    await run(realm);
    const gone = await run(realm, { versions: { ...statuses, lifts: [], writes: 1 } });
    expect(gone.result).toEqual(new Error('a later release has brought userStatus to version 2'));
  });

  it.each<[string, (table: Table, at: Key) => Promise<unknown>, Item | undefined]>([
    [
      'older functions change what it rests on',
      (_, at) => older.update(at, { set: { text: 'Gone' } }),
      { text: 'Gone', folded: 'gone', tags: new Set([0]), v: 2 },
    ],
    [
      'older functions change something else',
      (_, at) => older.update(at, { add: { tags: new Set([7]) } }),
      { text: 'At 0', folded: 'at 0', tags: new Set([0, 7]), v: 2 },
    ],
    [
      'older functions put another in its place',
      (_, at) => older.put(at, { text: 'Gone' }),
      { text: 'Gone', folded: 'gone', v: 2 },
    ],
    [
      'newer functions put another in its place',
      (table, at) => table.put(at, { text: 'Gone', folded: 'mine' }),
      { text: 'Gone', folded: 'mine', v: 2 },
    ],
    [
      'functions add something',
      (_, at) => older.update(at, { set: { folded: 'mine' } }),
      { text: 'At 0', folded: 'at 0', tags: new Set([0]), v: 2 },
    ],
    ['it is deleted', (table, at) => table.transact([{ delete: at }], randomUUID()), undefined],
  ])('loses no change if %s just before', async (_, race, expected) => {
    const realm = newId();
    await givenStatuses(realm, 1);
    const place = statusOf(realm, 0);
    let raced = false;
    const { result } = await run(realm, {
      send: async (command) => {
        if (nameOf(command) === 'Update' && !raced) {
          raced = true;
          await race(newer, place);
        }
        return store(command);
      },
    });
    expect(raced).toBe(true);
    expect(result).toMatchObject({ isComplete: true });
    expect(await allStored(realm)).toEqual(expected === undefined ? [] : [{ ...place, ...expected }]);
  });

  it('gives up on an item that changes all the time, and can be run again', async () => {
    const realm = newId();
    await givenStatuses(realm, 1);
    let count = 0;
    const busy = await run(realm, {
      send: async (command) => {
        if (nameOf(command) === 'Update')
          await older.update(statusOf(realm, 0), { set: { text: `At ${++count}` } });
        return store(command);
      },
    });
    expect(busy.result).toEqual(new Error('an item of userStatus changes faster than it can be migrated'));
    expect((await run(realm)).result).toMatchObject({ isComplete: true, changed: 1 });
    expect((await allStored(realm))[0]).toMatchObject({ folded: `at ${count}` });
  });
});

describe('the migration of organizations', () => {
  const [organizations = expect.fail()] = known.filter(({ kind }) => kind === 'realm').map(writtenVersions);

  it('gives an old organization all settings, and loses no concurrent change', async () => {
    const realm = await newRealm();
    const place = key('realm', { realm: realm.realm });
    const settings = { topics_policy: 'disable_empty_topic' };
    await realm.outside.table.update(place, { set: { settings }, remove: ['v'] });
    let raced = false;
    const { result } = await run(realm.realm, {
      versions: organizations,
      send: async (command) => {
        if (nameOf(command) === 'Update' && !raced) {
          raced = true;
          const reply = await realm.call(update, realm.people.owner, {
            name: 'Ants',
            presence_disabled: true,
          });
          expect(reply.status).toBe(200);
        }
        return store(command);
      },
    });
    expect(raced).toBe(true);
    expect(result).toEqual({ version: 2, isComplete: true, changed: 0 });
    const { items } = await older.storedPage({ pk: place.pk, from: place.sk, to: place.sk });
    expect(items[0]).toMatchObject({ name: 'Ants' });
    expect(items[0]?.settings).toEqual({ ...defaultRealmSettings, ...settings, presence_disabled: true });
  });
});

describe('the migration of messages', () => {
  /** Messages of the second version have the key of an index by sender. */
  const messages: Versions = {
    kind: 'slot',
    lifts: [(item) => (item.kind === 'message' ? { ...item, senderKey: `sender ${item.senderId}` } : item)],
    writes: 2,
  };

  it('can run while functions send, edit and read them', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const message = { type: 'channel', to: realm.channels.general, topic: 'hi', content: 'one' };
    const [first, second] = [
      await realm.call(send, member, message),
      await realm.call(send, member, message),
    ];
    // The release that knows the second version, as it runs by then.
    const release = realm.container(undefined, {
      table: new Table(TABLE, store, new ItemVersions([...known, messages])),
    });
    const edited: unknown[] = [];
    let raced = false;
    const { result } = await run(realm.realm, {
      versions: messages,
      send: async (command) => {
        if (nameOf(command) === 'Update' && !raced) {
          raced = true;
          edited.push(
            await release.call(
              edit,
              member,
              { content: 'two' },
              { path: { message_id: `${first.body.id}` } },
            ),
            await release.call(send, member, message),
          );
        }
        return store(command);
      },
    });
    expect(edited).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect(result).toEqual({ version: 2, isComplete: true, changed: 2 });
    const asked = { anchor: 'newest', num_before: 10, num_after: 0, apply_markdown: false };
    const { body } = await release.call(list, member, {}, { query: asked });
    expect(body.messages.map(({ content }: { content: string }) => content)).toEqual(['two', 'one', 'one']);
    const { items: stored } = await older.storedPage({ pk: partition('slot', { realm: realm.realm }) });
    const found = stored.filter(({ kind }) => kind === 'message');
    expect(found.map(({ seq }) => seq)).toContain(second.body.id);
    expect(found).toHaveLength(3);
    for (const it of found.slice(0, 2)) {
      expect(it).toMatchObject({ v: 2, senderKey: `sender ${member.userId}` });
    }
  });
});
