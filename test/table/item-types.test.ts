import { expect, expectTypeOf, it } from 'vitest';
import type { Slot } from '../../shared/log/slot.ts';
import { type ItemName, type ItemOf, type ItemTypes, itemKinds, key } from '../../shared/table/keys.ts';
import type { Table } from '../../shared/table/table.ts';

/*
 * The type of an item follows from its kind. Most of this is proved by the compiler: `tsc` checks this file with all
 * others, and an unused `@ts-expect-error` is an error.
 */

it('every kind of the key map has a type, and no other has', () => {
  expectTypeOf<keyof ItemTypes>().toEqualTypeOf<ItemName>();
  expect(Object.keys(itemKinds)).not.toEqual([]);
});

it('a read item has the type of its kind', () => {
  type Reads = [
    ReturnType<typeof one>,
    ReturnType<typeof byKey>,
    ReturnType<typeof many>,
    ReturnType<typeof several>,
  ];
  const one = (table: Table) => table.get('user', { realm: 'r', userId: 1 });
  const byKey = (table: Table) => table.get(key('user', { realm: 'r', userId: 1 }));
  const many = (table: Table) => table.page('slot', { realm: 'r' }, { from: { seq: 1 } });
  const several = (table: Table) => table.all(['folder', 'folderOrder'], { realm: 'r' });
  expectTypeOf<Reads[0]>().toEqualTypeOf<Promise<ItemOf<'user'> | undefined>>();
  expectTypeOf<Reads[1]>().toEqualTypeOf<Promise<ItemOf<'user'> | undefined>>();
  expectTypeOf<Awaited<Reads[2]>['items']>().toEqualTypeOf<Slot[]>();
  expectTypeOf<Awaited<Reads[3]>>().toEqualTypeOf<(ItemOf<'folder'> | ItemOf<'folderOrder'>)[]>();
});

it('an index has only the projected attributes of a message', () => {
  type Entry = Awaited<ReturnType<Table['indexPage']>>['items'][number];
  expectTypeOf<keyof Entry>().toEqualTypeOf<
    'sk' | 'senderId' | 'topic' | 'readBySender' | 'readIn' | 'mentions'
  >();
});

it('wrong types do not compile', () => {
  type Channel = Promise<ItemOf<'channel'> | undefined>;
  const at = { realm: 'r', userId: 1 };
  const mistakes = [
    // @ts-expect-error: a user is no channel
    (table: Table): Channel => table.get('user', at),
    // @ts-expect-error: nor is one that is read by its key
    (table: Table): Channel => table.get(key('user', at)),
    // @ts-expect-error: there is no such kind
    (table: Table) => table.get('nobody', at),
    // @ts-expect-error: the key of a user has another field
    (table: Table) => table.get('user', { realm: 'r', channelId: 1 }),
    // @ts-expect-error: and so has the end of a range
    (table: Table) => table.page('slot', { realm: 'r' }, { from: { userId: 1 } }),
    // @ts-expect-error: a read takes no type from its caller
    (table: Table) => table.get<ItemOf<'user'>>('user', at),
  ];
  expect(mistakes).toHaveLength(6);
});
