import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

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

/** Where the next run finds what it may reuse, from the root of the project. */
export const cache = (name: string) => `node_modules/.cache/parlance/${name}`;

/** What `npm run check` and `npm test` check: types, lint, dead code and layers. */
const checks: readonly Check[] = [
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

/**
 * Runs all checks side by side.
 *
 * @param isCached Whether a tool may reuse what it found in unchanged files (`node_modules/.cache/parlance`).
 * @param ended Hears of each check when it ends, and how many milliseconds it took.
 * @returns What the tools said that found something, by the names of their checks.
 */
export async function runChecks(
  isCached: boolean,
  ended: (name: string, passed: boolean, ms: number) => void,
): Promise<ReadonlyMap<string, string>> {
  const begin = performance.now();
  const found = new Map<string, string>();
  const run = async ({ name, script, args, cached }: Check): Promise<void> => {
    const command = [script, ...args, ...(isCached ? cached : [])];
    await promisify(execFile)(process.execPath, command, { cwd: project, maxBuffer: 64 << 20 }).catch(
      (error: Error & { readonly stdout?: string; readonly stderr?: string }) => {
        const { stdout = '', stderr = '', message } = error;
        found.set(name, (stdout + stderr).trim() || message);
      },
    );
    ended(name, !found.has(name), performance.now() - begin);
  };
  await Promise.all(checks.map(run));
  return found;
}
