import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { runPool } from '../shared/pool.ts';

it('a pool starts items in order, never more than its limit at a time', async () => {
  const begun: number[] = [];
  let underWay = 0;
  let most = 0;
  await runPool([5, 1, 1, 1, 1, 1], 2, async (ms) => {
    begun.push(ms);
    most = Math.max(most, ++underWay);
    await pause(ms);
    underWay--;
  });
  expect(begun).toEqual([5, 1, 1, 1, 1, 1]);
  expect(most).toBe(2);
  expect(underWay).toBe(0);
});

it('a pool finishes all other items if one fails, and returns the failures', async () => {
  const done: number[] = [];
  const failures = await runPool([1, 2, 3, 4], 1, async (item) => {
    if (item % 2 === 0) throw new Error(`item ${item}`);
    done.push(item);
  });
  expect(done).toEqual([1, 3]);
  expect(failures.map(String)).toEqual(['Error: item 2', 'Error: item 4']);
});
