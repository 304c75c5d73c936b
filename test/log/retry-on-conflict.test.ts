import { describe, expect, it } from 'vitest';
import { ConflictError, retryOnConflict } from '../../shared/log/commit.ts';

/** A clock that passes by waiting, and by `took` ms in each try. */
function clock(took: number) {
  const state = { time: 0, tries: 0, waits: [] as number[] };
  return {
    state,
    now: () => state.time,
    wait: async (ms: number) => {
      state.waits.push(ms);
      state.time += ms;
    },
    stale: async (): Promise<never> => {
      state.tries += 1;
      state.time += took;
      throw new ConflictError([]);
    },
  };
}

describe('retryOnConflict', () => {
  it('tries again while the snapshot changes, with bounded pauses, and finally throws the conflict', async () => {
    const { state, stale, ...outside } = clock(10);
    await expect(retryOnConflict(outside, stale)).rejects.toThrow(ConflictError);
    expect(state.tries).toBe(16);
    expect(state.waits).toHaveLength(15);
    expect(Math.max(...state.waits)).toBeLessThanOrEqual(500);
  });

  it('stops before its function times out, but not before the fourth try', async () => {
    const slow = clock(1_000);
    await expect(retryOnConflict(slow, slow.stale)).rejects.toThrow(ConflictError);
    expect(slow.state.tries).toBeGreaterThanOrEqual(4);
    expect(slow.state.tries).toBeLessThanOrEqual(6);
    const slower = clock(15_000);
    await expect(retryOnConflict(slower, slower.stale)).rejects.toThrow(ConflictError);
    expect(slower.state.tries).toBe(4);
  });

  it('throws any error but a conflict at once', async () => {
    const { state, stale: _, ...outside } = clock(0);
    const fault = async (): Promise<never> => {
      state.tries += 1;
      throw new Error('a fault');
    };
    await expect(retryOnConflict(outside, fault)).rejects.toThrow('a fault');
    expect(state.tries).toBe(1);
  });
});
