import { describe, expect, it } from 'vitest';
import { eventListener, joinedNeeds } from '../../shared/endpoints/listener.ts';

describe('the declaration of the listener', () => {
  it('has exactly the needs of its endpoints', () => {
    for (const { needs } of eventListener.endpoints) {
      expect(eventListener.needs.table).toEqual(expect.arrayContaining([...needs.table]));
      expect(eventListener.needs.settings).toEqual(expect.arrayContaining([...(needs.settings ?? [])]));
    }
    const actions = eventListener.endpoints.flatMap(({ needs }) => needs.table);
    expect(new Set(eventListener.needs.table)).toEqual(new Set(actions));
    expect(eventListener.needs.buckets).toEqual({ exports: ['GetObject'] });
    expect(eventListener.needs.countsRequests).toBe(true);
  });

  it('merges the actions on a bucket', () => {
    const one = { needs: { table: ['Query'], buckets: { images: ['GetObject'] } } } as const;
    const other = { needs: { table: ['Query'], buckets: { images: ['GetObject', 'PutObject'] } } } as const;
    expect(joinedNeeds([one, other])).toMatchObject({
      table: ['Query'],
      buckets: { images: ['GetObject', 'PutObject'] },
    });
  });

  it('has one path, and ends a poll before its request times out', () => {
    expect(new Set(eventListener.endpoints.map(({ path }) => path))).toEqual(new Set(['/api/v1/events']));
    expect(eventListener.holdSeconds).toBeLessThan(eventListener.timeout);
  });
});
