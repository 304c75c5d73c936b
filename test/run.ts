/**
 * `npm test`: types, lint, dead code, layers and every test, one after the other, each to its end. The last line counts:
 * every test is one, and so is each of the other checks.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { everyEndpoint as endpoints } from '../shared/endpoints/all.ts';
import { workers } from '../shared/endpoints/workers.ts';
import { checks, project } from './checks.ts';
import { failingRules, readLedger, summary, type TestReport } from './spec/ledger.ts';
import { rules } from './spec/rules.ts';
import { GRANTS_FOLDER } from './support/grants.ts';

interface Count {
  readonly passed: number;
  readonly failed: number;
}

/** What vitest writes when it is asked for JSON, as far as it is read here. */
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
  for (const { name, script, args } of checks) {
    const passed = await run(script, ...args);
    console.log(`${name}: ${passed ? 'passed' : 'failed'}`);
    counts.push(counted(passed));
  }
  return counts;
}

/** Runs the tests. One that could not even be loaded is in no count of vitest's, and counts as failed here. */
async function tests(...filters: string[]): Promise<Count> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-report-'));
  const file = join(folder, 'report.json');
  const grants = join(folder, 'grants');
  await mkdir(grants);
  process.env[GRANTS_FOLDER] = grants;
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const passed = await run('node_modules/vitest/vitest.mjs', 'run', ...reporters, ...filters);
  const report: Report | undefined = await readFile(file, 'utf8').then(JSON.parse, () => undefined);
  const wide = filters.length === 0 ? await wideGrants(grants) : [];
  await rm(folder, { recursive: true });
  for (const grant of wide) console.log(`a grant that no test needs: ${grant}`);
  if (!report) return counted(false);
  if (filters.length === 0) console.log(summary(await readLedger(), failingRules(rules, report)));
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

const counts = [...(await checked()), await tests(...process.argv.slice(2))];
const passed = counts.reduce((sum, count) => sum + count.passed, 0);
const failed = counts.reduce((sum, count) => sum + count.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
