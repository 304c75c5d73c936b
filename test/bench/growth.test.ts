import { describe, expect, it } from 'vitest';
import type { CrowdName } from './crowd.ts';
import { countAmong, type GrowthRow, verdictOf } from './growth.ts';

/** What must not know how much there is of anything else. */
const steady: Readonly<Record<CrowdName, readonly string[]>> = {
  subscribers: ['messages.send:wildcard mention', 'events.get:a message is there', 'channels.update'],
  members: ['messages.send:with a mention', 'users.get', 'users.create'],
  'people online': ['messages.send:channel'],
  channels: ['messages.send:channel', 'events.get:a message is there'],
  reactions: ['reactions.add:to a busy message'],
  emoji: ['messages.send:with a mention', 'emoji.add'],
  queues: ['messages.send:channel', 'events.get:nothing is there'],
  'nested groups': ['messages.send:channel'],
  messages: ['messages.send:channel', 'messages.get', 'events.get:a message is there'],
  'unread messages': ['messages.send:channel'],
};

/** Everything that is counted but the bytes of the reply, in which there are ids. */
const taken = (rows: readonly GrowthRow[]) =>
  rows.map(({ operation, cold, warm }) => ({
    operation,
    counts: [cold, warm].map(({ replyBytes: _, toldBytes: __, ...count }) => count),
  }));

/** How few there are. The first reactions of a message stand in one item, which is soon full. */
const few: Partial<Readonly<Record<CrowdName, number>>> = { reactions: 100 };

describe('growth of cost', () => {
  it.each(Object.entries(steady))(
    '%s takes the same calls and units among few users and among 200',
    async (of, names) => {
      const [among, many] = [
        await countAmong(of as CrowdName, few[of as CrowdName] ?? 10, names),
        await countAmong(of as CrowdName, 200, names),
      ];
      expect(among).toHaveLength(names.length);
      expect(taken(many)).toEqual(taken(among));
    },
  );
});

describe('verdicts', () => {
  const count = {
    roundTrips: 2,
    requests: 4,
    readUnits: 10,
    writeUnits: 7,
    others: {},
    toldBytes: 100,
    replyBytes: 100,
  };
  const rows = (more: object): GrowthRow[] =>
    [10, 10_000].map((size, i) => {
      const warm = { ...count, ...(i === 1 && more) };
      return { of: 'members', size, operation: 'x', endpoint: 'x', cold: count, warm };
    });

  it('distinguish constant cost, growth with the reply, and other growth', () => {
    expect(verdictOf(rows({}))).toBe('the same');
    expect(verdictOf(rows({ readUnits: 110, toldBytes: 100_100 }))).toBe('with the reply');
    expect(verdictOf(rows({ readUnits: 110 }))).toBe('grows');
    expect(verdictOf(rows({ writeUnits: 8 }))).toBe('grows');
    expect(verdictOf(rows({ roundTrips: 3 }))).toBe('grows');
  });
});
