import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Lookup, ResolvedReferences } from '../../shared/markdown/found.ts';
import { extractReferences, MAX_WANTED } from '../../shared/markdown/references.ts';
import { render } from '../../shared/markdown/render.ts';
import { hostileText } from '../support/hostile-text.ts';

const NOTHING = {
  users: [],
  groups: [],
  channels: [],
  topics: [],
  emoji: [],
  builtInEmoji: [],
  channelWildcard: false,
  topicWildcard: false,
};

describe('wants', () => {
  it.each([
    [
      '@**Ada** @_**Ada** @**Bob|7** @**|12**',
      { users: [{ name: 'Ada' }, { name: 'Bob', id: 7 }, { id: 12 }] },
    ],
    ['@*devs* @_*ops*', { groups: ['devs', 'ops'] }],
    [
      '#**a** #**b>topic** #**c>topic@5** #**d>** #**>x**',
      {
        channels: ['a', 'b', 'b>topic', 'c', 'c>topic@5', 'd', 'd>', '>x'],
        topics: [
          { channel: 'b', topic: 'topic' },
          { channel: 'd', topic: '' },
        ],
      },
    ],
    ['::smile: :grumpy_cat: ::grumpy_cat::', { emoji: ['grumpy_cat'], builtInEmoji: ['smile'] }],
    ['@**all** @**topic**', { channelWildcard: true, topicWildcard: true }],
    ['in code too: `@**Ada**`', { users: [{ name: 'Ada' }] }],
    ['the second begins in the first: @**x @**Ada**', { users: [{ name: 'x @' }, { name: 'Ada' }] }],
    [
      'a table escapes bars: @**Ada\\|12**',
      {
        users: [
          { name: 'Ada\\', id: 12 },
          { name: 'Ada', id: 12 },
        ],
      },
    ],
    ['nothing: a@b.c #1 : 5:30 ** @ ** @****', {}],
  ])('%j', (text, wanted) => {
    expect(extractReferences(text)).toEqual({ ...NOTHING, ...wanted });
  });

  it('takes nothing for a name that is longer than a name can be', () => {
    const long = 'é'.repeat(101);
    expect(extractReferences(`@**${long}** @*${long}* #**${long}** @**   **`)).toEqual(NOTHING);
    expect(extractReferences(`@**${long.slice(1)}**`).users).toEqual([{ name: long.slice(1) }]);
  });

  it('never asks for more than a batch of each kind', () => {
    const many = Array.from({ length: 2 * MAX_WANTED }, (_, i) => `@**u${i}** @*g${i}* #**c${i}>t** :e${i}:`);
    const { users, groups, channels, topics, emoji } = extractReferences(many.join(' '));
    expect([users, groups, channels, topics, emoji].map(({ length }) => length)).toEqual(Array(5).fill(50));
    expect(users[0]).toEqual({ name: 'u0' });
  });

  it('names everything that rendering looks up', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const asked = {
          usersByName: new Set(),
          usersById: new Set(),
          groups: new Set(),
          channels: new Set(),
          emoji: new Set(),
        };
        const recorder = (key: keyof typeof asked): Lookup<unknown, never> => ({
          get(name) {
            asked[key].add(name);
            return undefined;
          },
        });
        const found: ResolvedReferences = {
          usersByName: recorder('usersByName'),
          usersById: recorder('usersById'),
          groups: recorder('groups'),
          channels: recorder('channels'),
          emoji: recorder('emoji'),
        };
        render(text, found);
        const wanted = extractReferences(text);
        // A name beyond the limit is not read, so it is not found: it stays plain text.
        const covered = (names: readonly unknown[], needed: Set<unknown>): boolean =>
          names.length === MAX_WANTED || [...needed].every((name) => names.includes(name));
        expect(
          covered(
            wanted.users.map(({ name }) => name),
            asked.usersByName,
          ),
        ).toBe(true);
        expect(
          covered(
            wanted.users.map(({ id }) => id),
            asked.usersById,
          ),
        ).toBe(true);
        expect(covered(wanted.groups, asked.groups)).toBe(true);
        expect(covered(wanted.channels, asked.channels)).toBe(true);
        expect(covered([...wanted.emoji, ...wanted.builtInEmoji], asked.emoji)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
