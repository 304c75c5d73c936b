import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/store.ts'],
    // The stores wait as much as they work, so a test file for each processor keeps both busy.
    maxWorkers: '100%',
    // A third of the work is loading the same modules; no test leaves anything in them for the next one.
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // Real stores, threads and time-outs on a busy machine: there, only what fails twice stops a landing.
    retry: process.env.CI ? 1 : 0,
  },
});
