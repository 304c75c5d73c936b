import { expect, it } from 'vitest';
import { inBulk, type Work } from '../../shared/log/bulk.ts';
import { CommitTimeoutError, ConflictError } from '../../shared/log/commit.ts';

it('a bulk change that meets a conflict in every try may be repeated by its caller', async () => {
  let reloads = 0;
  const stage = { now: () => 0, wait: async () => {}, reload: async () => ++reloads };
  const work: Work<string> = {
    fits: () => true,
    cut: () => undefined,
    run: async () => {
      throw new ConflictError([]);
    },
  };
  const done = inBulk(stage, 0, work, () => ({ jobs: ['any'], decision: undefined }));
  await expect(done).rejects.toBeInstanceOf(CommitTimeoutError);
  expect(reloads).toBeGreaterThan(1);
});
