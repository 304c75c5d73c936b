import { join } from 'node:path';

/** A check of the whole code base that runs no test. */
interface Check {
  readonly name: string;
  /** The tool's own script, from the root of the project. */
  readonly script: string;
  readonly args: readonly string[];
  /** What makes the tool reuse what it found in unchanged files. */
  readonly cached: readonly string[];
}

/** The root of the project. */
export const project = join(import.meta.dirname, '..');

const cache = (name: string) => `node_modules/.cache/parlance/${name}`;

/** What `npm run check` and `npm test` check: types, lint, dead code and layers. */
export const checks: readonly Check[] = [
  {
    name: 'types',
    script: 'node_modules/typescript/bin/tsc',
    args: ['--noEmit'],
    cached: ['--incremental', '--tsBuildInfoFile', cache('types.tsbuildinfo')],
  },
  {
    name: 'lint',
    script: 'node_modules/@biomejs/biome/bin/biome',
    args: ['check', '--error-on-warnings', '.'],
    cached: [],
  },
  {
    name: 'dead code',
    script: 'node_modules/knip/bin/knip.js',
    args: [],
    cached: ['--cache', '--cache-location', cache('dead-code')],
  },
  {
    name: 'layers',
    script: 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs',
    args: ['--no-progress', 'functions', 'shared', 'infra', 'test'],
    cached: ['--cache', cache('layers'), '--cache-strategy', 'content'],
  },
];
