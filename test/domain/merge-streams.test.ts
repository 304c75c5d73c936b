import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeStreams } from '../../shared/domain/reader/merge-streams.ts';
import type { MessageHead } from '../../shared/log/message.ts';
import { RangeCache, type RangeReader, type RangeRequest } from '../../shared/model/message/load.ts';

const head = (id: number): MessageHead => ({ id, senderId: 1, conversation: 'c', readBySender: false });

/** A place that holds these ids and answers in pages of at most `page`. Counts the messages it gave out. */
function place(ids: readonly number[], page: number, count: { read: number }): RangeReader {
  return async ({ from, to, side, limit }: RangeRequest) => {
    const inRange = ids
      .filter((id) => id >= from && id <= to)
      .sort((a, b) => (side === 'older' ? b - a : a - b));
    const found = inRange.slice(0, Math.min(limit, page));
    count.read += found.length;
    return { heads: found.map(head), until: found.length < inRange.length ? found.at(-1) : undefined };
  };
}

const ids = fc.uniqueArray(fc.integer({ min: 1, max: 300 }), { maxLength: 120 });
const stream = fc.record({
  ids,
  above: fc.integer({ min: 0, max: 200 }),
  page: fc.integer({ min: 1, max: 40 }),
});

describe('mergeStreams', () => {
  it('finds exactly what a search of all messages finds, from either side, and again from its cache', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(stream, { maxLength: 5 }),
        fc.array(
          fc.record({
            side: fc.constantFrom('older' as const, 'newer' as const),
            from: fc.integer({ min: 0, max: 320 }),
            need: fc.integer({ min: 1, max: 60 }),
          }),
          { minLength: 1, maxLength: 3 },
        ),
        fc.integer({ min: 1, max: 7 }),
        async (given, searches, modulus) => {
          const streams = given.map((each) => ({
            cache: new RangeCache(place(each.ids, each.page, { read: 0 })),
            above: each.above,
          }));
          const wanted = (id: number): boolean => id % modulus === 0;
          const all = [...new Set(given.flatMap((each) => each.ids.filter((id) => id > each.above)))].filter(
            wanted,
          );
          for (const { side, from, need } of searches) {
            const found = await mergeStreams({
              streams,
              side,
              from,
              need,
              keep: async (heads) => new Set(heads.map(({ id }) => id).filter(wanted)),
              mayRead: true,
            });
            const expected = all
              .filter((id) => (side === 'older' ? id < from : id >= from))
              .sort((a, b) => (side === 'older' ? b - a : a - b))
              .slice(0, need);
            expect(found.heads.map(({ id }) => id)).toEqual(expected);
            expect(found.isComplete).toBe(true);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('searches both sides of a cache at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(stream, { maxLength: 4 }),
        fc.integer({ min: 0, max: 320 }),
        async (given, from) => {
          const streams = given.map((each) => ({
            cache: new RangeCache(place(each.ids, each.page, { read: 0 })),
            above: each.above,
          }));
          const keep = async (heads: readonly MessageHead[]) => new Set(heads.map(({ id }) => id));
          const search = { streams, from, need: 10, keep, mayRead: true };
          const [older, newer] = await Promise.all([
            mergeStreams({ ...search, side: 'older' }),
            mergeStreams({ ...search, side: 'newer' }),
          ]);
          const all = [...new Set(given.flatMap((each) => each.ids.filter((id) => id > each.above)))];
          const below = all.filter((id) => id < from).sort((a, b) => b - a);
          const above = all.filter((id) => id >= from).sort((a, b) => a - b);
          expect(older.heads.map(({ id }) => id)).toEqual(below.slice(0, 10));
          expect(newer.heads.map(({ id }) => id)).toEqual(above.slice(0, 10));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('reads exactly as many messages as needed from one stream, and few more from many', async () => {
    const count = { read: 0 };
    const full = Array.from({ length: 3_000 }, (_, i) => i + 1);
    const keep = async (heads: readonly MessageHead[]) => new Set(heads.map(({ id }) => id));
    const search = { side: 'older', from: 5_000, need: 20, keep, mayRead: true } as const;
    await mergeStreams({
      ...search,
      streams: [{ cache: new RangeCache(place(full, 1_000, count)), above: 0 }],
    });
    expect(count.read).toBe(20);
    count.read = 0;
    const streams = Array.from({ length: 10 }, (_, k) => ({
      cache: new RangeCache(
        place(
          full.filter((id) => id % 10 === k),
          1_000,
          count,
        ),
      ),
      above: 0,
    }));
    await mergeStreams({ ...search, streams });
    expect(count.read).toBeLessThanOrEqual(10 * 20);
  });

  it('gives up if hardly any message matches, and says so', async () => {
    const count = { read: 0 };
    const full = Array.from({ length: 50_000 }, (_, i) => i + 1);
    const cache = new RangeCache(place(full, 1_000, count));
    const found = await mergeStreams({
      streams: [{ cache, above: 0 }],
      side: 'older',
      from: 60_000,
      need: 5,
      keep: async (heads) => new Set(heads.map(({ id }) => id).filter((id) => id === 49_999 || id === 3)),
      mayRead: true,
    });
    expect(found).toEqual({ heads: [head(49_999)], isComplete: false });
    expect(count.read).toBeLessThanOrEqual(11_000);
  });
});
