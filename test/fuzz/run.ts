/**
 * `npm run fuzz -- --calls 20000 --polls 2000 --seed 1`: sends the given number of requests to every endpoint, with the
 * real handlers and a real store, and prints the results by endpoint. From 20,000 on it fails if an endpoint never
 * succeeded. Then it requests hidden things beside missing ones, and sends the most expensive requests without a valid
 * key: it prints the most expensive one for each endpoint, and fails if one is over the bound. Searches are compared with
 * fetches in random organizations. Without a seed it chooses one and prints it; the same seed gives the same requests.
 *
 * After that the whole local service gets malformed requests, a tenth as many as there are calls, large and broken
 * bodies, and as many clients that wait for events as given (`--polls`). None of them may be refused.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '20000' },
    polls: { type: 'string', default: '2000' },
    seed: { type: 'string' },
  },
});
for (const [name, value] of Object.entries(values)) {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new Error(`--${name} must be a number from 1 on, not '${value}'.`);
}
/** So many calls more, and each endpoint is asked once more about each hidden thing by each caller. */
const CALLS_FOR_TWINS = 10_000;
/** So many calls more, and each endpoint gets one more hostile request from callers without a key. */
const CALLS_FOR_STRANGERS = 100;
/** So many calls more, and there is one more mangled request. */
const CALLS_FOR_MANGLED = 10;
/** So many calls more, and searches are compared with fetches in one more organization. */
const CALLS_FOR_SEARCHES = 400;
const share = (calls: number): string => String(Math.ceil(Number(values.calls) / calls));
const project = join(import.meta.dirname, '../..');
const vitest = join(project, 'node_modules/vitest/vitest.mjs');

/** Runs some of the tests, and tells whether they passed. */
async function run(...names: string[]): Promise<boolean> {
  const files = names.map((name) => `test/${name}.test.ts`);
  const child = spawn(process.execPath, [vitest, 'run', ...files, '--disable-console-intercept'], {
    cwd: project,
    stdio: 'inherit',
    env: {
      ...process.env,
      FUZZ_CALLS: values.calls,
      FUZZ_TWINS: share(CALLS_FOR_TWINS),
      FUZZ_STRANGERS: share(CALLS_FOR_STRANGERS),
      FUZZ_MANGLED: share(CALLS_FOR_MANGLED),
      FUZZ_SEARCHES: share(CALLS_FOR_SEARCHES),
      FUZZ_POLLS: values.polls,
      ...(values.seed && { FUZZ_SEED: values.seed }),
    },
  });
  const [code] = await once(child, 'exit');
  return code === 0;
}

const handlers = await run('fuzz/abuse', 'fuzz/hidden', 'search/oracle');
// By itself, since it measures the processor.
const strangers = await run('fuzz/stranger');
// By itself, since clients that wait need all processors.
const service = await run('fuzz/gateway');
process.exitCode = handlers && strangers && service ? 0 : 1;
