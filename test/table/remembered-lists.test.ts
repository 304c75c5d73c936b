import { randomUUID } from 'node:crypto';
import { expect, expectTypeOf, it } from 'vitest';
import { doCountMembership } from '../../shared/model/user/activation.ts';
import { key } from '../../shared/table/keys.ts';
import type { Listed } from '../../shared/table/remembered-lists.ts';
import type { Table } from '../../shared/table/table.ts';
import { type Item, type Write, withListVersions } from '../../shared/table/write.ts';
import { newRealm } from '../support/realm.ts';

const realm = 'a/realm';
const at = key('user', { realm, userId: 1 });

/** What is written besides these. */
const added = (...writes: Write[]): readonly Write[] => withListVersions(writes, 7).slice(writes.length);

const versions = (set: Item): Write[] => [{ update: key('listVersions', { realm }), change: { set } }];

it('a change of a person, their profile or an emoji is a new version of the list, in the same transaction', () => {
  expect(added({ put: at, item: {} })).toEqual(versions({ user: 7 }));
  expect(added({ delete: at })).toEqual(versions({ user: 7 }));
  expect(added({ update: at, change: { set: { mutes: [], timezone: '' } } })).toEqual(versions({ user: 7 }));
  expect(added({ update: at, change: { remove: ['avatarUrl'] } })).toEqual(versions({ user: 7 }));
  const profile = { put: key('profile', { realm, userId: 1 }), item: {} };
  const emoji = { update: key('emoji', { realm, emojiId: 1 }), change: { set: { deactivated: true } } };
  expect(added(emoji)).toEqual(versions({ emoji: 7 }));
  expect(added(profile, { put: at, item: {} }, { delete: at })).toEqual(versions({ profile: 7, user: 7 }));
});

it('what is no part of the list leaves its version', () => {
  expect(added({ update: at, change: { set: { mutes: [], changed: 7 } } })).toEqual([]);
  expect(added({ update: at, change: { set: { alertWords: [] } } })).toEqual([]);
  // As a change of the members of a group, or of what stands in a channel, locks it.
  for (const lock of [key('group', { realm, groupId: 1 }), key('channel', { realm, channelId: 1 })]) {
    expect(added({ update: lock, change: { set: { changed: 7 } } })).toEqual([]);
  }
  expect(added(doCountMembership(realm, 1))).toEqual([]);
  expect(added({ check: at, when: { absent: false } })).toEqual([]);
  expect(added({ put: key('settings', { realm, userId: 1 }), item: {} })).toEqual([]);
});

it('each organization has its versions', () => {
  const other = { put: key('user', { realm: 'b', userId: 1 }), item: {} };
  expect(added({ put: at, item: {} }, other)).toEqual([
    ...versions({ user: 7 }),
    { update: key('listVersions', { realm: 'b' }), change: { set: { user: 7 } } },
  ]);
});

it('a transaction without a number of the log makes a version that no other has', async () => {
  const { outside, realm } = await newRealm();
  const version = async () => (await outside.table.get('listVersions', { realm }))?.user;
  const seen = [await version()];
  for (const fullName of ['one', 'two']) {
    const change = { set: { fullName } };
    await outside.table.transact([{ update: key('user', { realm, userId: 1 }), change }], randomUUID());
    seen.push(await version());
  }
  expect(new Set(seen).size).toBe(3);
});

it('an item of a remembered list cannot be written outside a transaction', () => {
  // @ts-expect-error
  const update = (table: Table) => table.update(at, { set: { fullName: 'other' } });
  // @ts-expect-error
  const put = (table: Table) => table.put(key('profile', { realm, userId: 1 }), {});
  expect([update, put]).toHaveLength(2);
});

it('what is no part of the list cannot be read from it', () => {
  expectTypeOf<Listed<'user'>>().not.toHaveProperty('mutes');
  expectTypeOf<Listed<'user'>>().toHaveProperty('fullName');
});
