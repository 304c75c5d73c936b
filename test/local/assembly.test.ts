import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { assemble } from '../../infra/local/assembly.ts';
import { StartProblem } from '../../infra/local/start-problem.ts';
import { STARTING } from '../support/local-service.ts';
import { temporaryFolder } from './sample-cloud.ts';

test('what cannot be assembled is a problem of the start, and no later start takes it', {
  timeout: STARTING,
}, async () => {
  const outdir = await temporaryFolder();
  // The other process says what is wrong with it.
  await expect(assemble(outdir, { apiRateLimit: 'many' })).rejects.toThrow(StartProblem);
  expect(existsSync(join(outdir, 'record.json'))).toBe(false);
});
