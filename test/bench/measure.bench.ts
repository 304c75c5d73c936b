import { writeFile } from 'node:fs/promises';
import { it } from 'vitest';
import { measureCounts } from './counts.ts';
import { measureGrowth } from './growth.ts';
import { operations } from './operations.ts';

const { BENCH_SECTIONS = '', BENCH_RESULT = '', BENCH_OF, BENCH_SIZES } = process.env;

it('counts what operations take', { timeout: 4 * 3_600_000 }, async () => {
  const sections = BENCH_SECTIONS.split(',');
  const growing = () => measureGrowth(BENCH_OF?.split(','), BENCH_SIZES?.split(',').map(Number));
  const result = {
    counts: sections.includes('counts') ? await measureCounts(operations) : [],
    growth: sections.includes('growth') ? await growing() : [],
  };
  await writeFile(BENCH_RESULT, JSON.stringify(result));
});
