import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  conversationOf,
  type ItemName,
  indexes,
  isOf,
  itemKinds,
  key,
  padded,
  partition,
  sortPrefix,
} from '../../shared/table/keys.ts';
import { tableDocument } from './table-document.ts';

const names = Object.keys(itemKinds) as ItemName[];

/** Text that tries to look like a part of a key. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('/', '%', '2', 'F', 'a', ':', ',', '0', '{', '}', 'é', '😀') }),
  fc.constantFrom(...names.flatMap((name) => itemKinds[name].sk.split('/'))),
);
const number = fc.integer({ min: 0, max: 999_999_999_999 });

/** A kind of item with values for each field of its key. */
const anyItem = fc.constantFrom(...names).chain((name) => {
  const { pk, sk } = itemKinds[name];
  const fields = [...`${pk} ${sk}`.matchAll(/\{(\w+)(:n)?\}/g)];
  const values = Object.fromEntries(
    fields.map(([, field = '', isNumber]) => [field, isNumber ? number : text]),
  );
  return fc.record({ name: fc.constant(name), fields: fc.record(values) });
});

const keyOf = ({ name, fields }: { name: ItemName; fields: object }) => key(name, fields as never);

describe('the key map', () => {
  it('never gives two items one key', () => {
    fc.assert(
      fc.property(anyItem, anyItem, (a, b) => {
        const same = JSON.stringify(keyOf(a)) === JSON.stringify(keyOf(b));
        expect(same).toBe(a.name === b.name && JSON.stringify(a.fields) === JSON.stringify(b.fields));
      }),
      { numRuns: 20_000 },
    );
  });

  it('finds the owner of each key', () => {
    const forms = names.map((name) => [name, isOf(name)] as const);
    fc.assert(
      fc.property(anyItem, (any) => {
        const at = keyOf(any);
        expect(forms.filter(([, is]) => is(at)).map(([name]) => name)).toEqual([any.name]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('gives the same kinds different keys for different fields', () => {
    for (const name of names) {
      const { pk, sk } = itemKinds[name];
      const fields = [...`${pk} ${sk}`.matchAll(/\{(\w+)(:n)?\}/g)];
      const base = Object.fromEntries(fields.map(([, field = '', isNumber]) => [field, isNumber ? 1 : 'a']));
      for (const [, field = '', isNumber] of fields) {
        const other = { ...base, [field]: isNumber ? 11 : 'a/a' };
        expect(keyOf({ name, fields: other }), `${name} by ${field}`).not.toEqual(
          keyOf({ name, fields: base }),
        );
      }
    }
  });

  it('separates realms, since every key begins with its realm except those that find the realm', () => {
    const finders: Partial<Record<ItemName, string>> = {
      host: 'host/',
      mailToken: 'mailToken/',
      unusedFile: '{day:n}/{realm}/',
      due: '{at:n}/{realm}/',
    };
    const listed: readonly ItemName[] = [
      'organization',
      'retention',
      'channelRetention',
      'pushRealm',
      'outbox',
      'due',
      'unusedFile',
    ];
    for (const name of names) {
      const { pk, sk } = itemKinds[name];
      expect((listed.includes(name) ? sk : pk).startsWith(finders[name] ?? '{realm}/'), name).toBe(true);
    }
  });

  it('preserves the order of numbers in text', () => {
    fc.assert(
      fc.property(number, number, (a, b) => {
        expect(padded(a) < padded(b)).toBe(a < b);
      }),
    );
    for (const bad of [-1, 1.5, 1e12, Number.NaN, Number.MAX_SAFE_INTEGER])
      expect(() => padded(bad)).toThrow(RangeError);
  });

  it('has different keys for different conversations', () => {
    expect(conversationOf.topic(1, 'direct:2')).not.toBe(conversationOf.direct('2'));
    expect(conversationOf.topic(1, '')).not.toBe(conversationOf.topic(11, ''));
    expect(indexes.conversation.key('r', 'a/b')).not.toBe(indexes.conversation.key('r/a', 'b'));
  });

  it('stores the counters of requests in partitions that an IAM pattern can distinguish', () => {
    const alike = names.filter((name) => itemKinds[name].pk.includes('/requests/'));
    expect(alike).toEqual(['requests', 'keyUse']);
  });

  it('builds prefixes of sort keys from the given fields', () => {
    const { sk } = key('userTopic', { realm: 'r', userId: 1, channelId: 3, topic: 'x' });
    expect(sk.startsWith(sortPrefix('userTopic', { channelId: 3 }))).toBe(true);
    expect(sk.startsWith(sortPrefix('userTopic'))).toBe(true);
    expect(sortPrefix('user')).toBe('');
    expect(partition('userTopic', { realm: 'r', userId: 1 })).toBe(
      partition('subscription', { realm: 'r', userId: 1 }),
    );
  });

  it('is documented in TABLE.md', () => {
    expect(readFileSync(new URL('../../shared/table/TABLE.md', import.meta.url), 'utf8')).toBe(
      tableDocument(),
    );
  });
});
