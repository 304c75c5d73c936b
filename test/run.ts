/**
 * `npm test`: types, lint, dead code and layers, side by side, then every test, each to its end. The last line counts:
 * every test is one, and so is each of the other checks.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { everyEndpoint as endpoints } from '../shared/endpoints/all.ts';
import { workers } from '../shared/endpoints/workers.ts';
import { cache, project, runChecks } from './checks.ts';
import { failingRules, readLedger, summary, type TestReport } from './spec/ledger.ts';
import { rules } from './spec/rules.ts';
import { GRANTS_FOLDER } from './support/grants.ts';
import { ASSEMBLY, assembleUsual } from './support/usual-assembly.ts';

interface Count {
  readonly passed: number;
  readonly failed: number;
}

/** The parts of vitest's JSON report that are read here. */
interface Report extends TestReport {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
}

/** Runs a tool with Node, its output going where ours goes, and tells whether it was content. */
async function run(script: string, ...args: string[]): Promise<boolean> {
  const command = ['--disable-warning=ExperimentalWarning', script, ...args];
  const child = spawn(process.execPath, command, { cwd: project, stdio: 'inherit' });
  const stop = () => {
    child.kill();
    process.exit(1);
  };
  process.once('SIGTERM', stop);
  const [code] = await once(child, 'exit');
  process.off('SIGTERM', stop);
  return code === 0;
}

const counted = (passed: boolean): Count => (passed ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });

async function checked(): Promise<Count[]> {
  const counts: Count[] = [];
  const found = await runChecks(false, (name, passed) => {
    console.log(`${name}: ${passed ? 'passed' : 'failed'}`);
    counts.push(counted(passed));
  });
  for (const [name, output] of found) console.log(`\n--- ${name}\n${output}`);
  return counts;
}

/** Builds the service once, for all tests that start it. If that fails, each of them tries, and says what is wrong. */
async function assemble(): Promise<void> {
  const assembly = join(project, cache('assembly'));
  await assembleUsual(assembly).then(
    () => {
      process.env[ASSEMBLY] = assembly;
    },
    (error: unknown) => console.error(error),
  );
}

/** Runs the tests. One that could not even be loaded is in no count of vitest's, and counts as failed here. */
async function tests(): Promise<Count> {
  const file = join(folder, 'report.json');
  const grants = join(folder, 'grants');
  await mkdir(grants);
  process.env[GRANTS_FOLDER] = grants;
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const passed = await run('node_modules/vitest/vitest.mjs', 'run', ...reporters, ...filters);
  const report: Report | undefined = await readFile(file, 'utf8').then(JSON.parse, () => undefined);
  const wide = isWhole ? await wideGrants(grants) : [];
  for (const grant of wide) console.log(`a grant that no test needs: ${grant}`);
  if (!report) return counted(false);
  if (isWhole) console.log(summary(await readLedger(), failingRules(rules, report)));
  const unseen = !passed && report.numFailedTests === 0 ? 1 : 0;
  return { passed: report.numPassedTests, failed: report.numFailedTests + unseen + wide.length };
}

/** What policies allow on the table and nothing used in a whole run: too wide, or not tested. */
async function wideGrants(folder: string): Promise<string[]> {
  const files = await Promise.all(
    (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')),
  );
  const used = new Set(files.join('').split('\n'));
  const allowed = [...endpoints, ...workers].flatMap(({ id, needs }) =>
    needs.table.map((action) => `${id} ${action}`),
  );
  return allowed.filter((grant) => !used.has(grant));
}

const filters = process.argv.slice(2);
const isWhole = filters.length === 0;
const folder = await mkdtemp(join(tmpdir(), 'parlance-run-'));
const [checks] = await Promise.all([checked(), isWhole && assemble()]);
const counts = [...checks, await tests()];
await rm(folder, { recursive: true });
const passed = counts.reduce((sum, count) => sum + count.passed, 0);
const failed = counts.reduce((sum, count) => sum + count.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
