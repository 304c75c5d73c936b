import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/store.ts'],
    // Tests wait for the stores for a third of their time; one more than there are processors keeps all of them busy.
    maxWorkers: availableParallelism() + 1,
    tags: [
      { name: 'units', description: 'Counts capacity units, which only some engines count as AWS does.' },
    ],
    sequence: { sequencer: LongestFirst },
    // A third of the work is loading the same modules; no test leaves anything in them for the next one.
    isolate: false,
    // Node strips the types itself, as it does for `npm start`: no module has to be translated.
    experimental: { viteModuleRunner: false },
    // For what hangs: on a busy machine a test takes ten times as long as on an idle one, and is no worse for it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Real stores, threads and time-outs on a busy machine: there, only what fails twice stops a landing.
    retry: process.env.CI ? 1 : 0,
  },
});
