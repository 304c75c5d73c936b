/**
 * `npm run ledger`: runs the tests that prove rules of the specification and prints each rule with its tests, then
 * how many rules there are, how many are tested and how many fail. `npm run ledger -- --list` runs nothing.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failingRules, NAMED, readLedger, summary, type TestReport } from './ledger.ts';
import { rules } from './rules.ts';

const project = join(import.meta.dirname, '../..');

/** Runs the tests of these files whose titles name rules, and returns their report. */
async function runProofs(files: readonly string[]): Promise<TestReport> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-ledger-'));
  const file = join(folder, 'report.json');
  const vitest = join(project, 'node_modules/vitest/vitest.mjs');
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${file}`];
  const child = spawn(process.execPath, [vitest, 'run', ...reporters, '-t', NAMED.source, ...files], {
    cwd: project,
    stdio: 'inherit',
  });
  await once(child, 'exit');
  const report: TestReport = JSON.parse(await readFile(file, 'utf8'));
  await rm(folder, { recursive: true });
  return report;
}

const ledger = await readLedger();
const files = [...new Set(ledger.entries.flatMap(({ proofs }) => proofs.map(({ file }) => `test/${file}`)))];
const failing = process.argv.includes('--list')
  ? new Set<string>()
  : failingRules(rules, await runProofs(files));

for (const { id, says, proofs } of ledger.entries) {
  const state = proofs.length === 0 ? '  (NO TEST)' : failing.has(id) ? '  (FAILS)' : '';
  console.log(`${id}: ${says}${state}`);
  for (const { file, title } of proofs) console.log(`    ${file}: ${title.replace(/\s*\([^()]*\)$/, '')}`);
}
console.log(summary(ledger, failing));
process.exitCode = failing.size === 0 && ledger.entries.every(({ proofs }) => proofs.length > 0) ? 0 : 1;
