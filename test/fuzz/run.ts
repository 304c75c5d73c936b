/**
 * `npm run fuzz -- --calls 20000 --seed 1`: as many requests to every endpoint as asked for, against the real handlers
 * and a real store, and what came of them, by endpoint. From 20,000 on it fails if one never did what it is for. Then
 * what is hidden is asked for beside what never existed. Without a seed it takes one, which it prints; with it, the
 * same requests come again.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { calls: { type: 'string', default: '20000' }, seed: { type: 'string' } },
});
for (const [name, value] of Object.entries(values)) {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new Error(`--${name} must be a number from 1 on, not '${value}'.`);
}
/** So many calls more, and each endpoint is asked once more about each hidden thing by each caller. */
const CALLS_FOR_TWINS = 10_000;
const project = join(import.meta.dirname, '../..');
const vitest = join(project, 'node_modules/vitest/vitest.mjs');
const child = spawn(
  process.execPath,
  [vitest, 'run', 'test/fuzz/abuse.test.ts', 'test/fuzz/hidden.test.ts', '--disable-console-intercept'],
  {
    cwd: project,
    stdio: 'inherit',
    env: {
      ...process.env,
      FUZZ_CALLS: values.calls,
      FUZZ_TWINS: String(Math.ceil(Number(values.calls) / CALLS_FOR_TWINS)),
      ...(values.seed && { FUZZ_SEED: values.seed }),
    },
  },
);
const [code] = await once(child, 'exit');
process.exitCode = code ?? 1;
