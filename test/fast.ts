/**
 * `npm run test:fast`: the tests that import a file which differs from `main`, committed or not. On `main` itself: from
 * the last commit. Other names to compare with, and options of vitest, can be given: `npm run test:fast -- HEAD~3 -t retry`.
 *
 * It follows imports only. What tests find by listing files or by starting the service is left to `npm test`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { project } from './checks.ts';

const given = process.argv.slice(2);

/** The commit that a name stands for, if there is one. */
function commitOf(...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd: project, encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return undefined;
  }
}

const named = given[0]?.startsWith('-') ? undefined : given.shift();
const base =
  named ?? commitOf('merge-base', 'HEAD', 'main') ?? commitOf('merge-base', 'HEAD', 'origin/main') ?? 'HEAD';
const changed = ['run', '--changed', base, '--passWithNoTests', ...given];
const node = ['--disable-warning=ExperimentalWarning', 'node_modules/vitest/vitest.mjs', ...changed];
const { status } = spawnSync(process.execPath, node, { cwd: project, stdio: 'inherit' });
process.exitCode = status ?? 1;
