/**
 * `DYNAMODB_ENDPOINT=http://127.0.0.1:8000 npm run conformance`: the tests that lean most on DynamoDB, and a fuzz, on
 * another engine than the bundled one. What engines do differently stands in docs/CONFORMANCE.md.
 *
 * Tests that count capacity units are left out, since engines count in their own ways.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { project } from '../checks.ts';

/** Folders and files of tests, and how many requests the fuzz makes. */
const TESTS = ['table', 'log', 'messages', 'events', 'subscriptions', 'fuzz/abuse', 'fuzz/hidden'].map(
  (name) => `test/${name}`,
);
const FUZZ_CALLS = '500';
/** Milliseconds for each of them, ten times as many as on the bundled engine. */
const FUZZ_PATIENCE = '800';
/** Milliseconds for one test: engines may be much slower than the bundled one. */
const TEST_TIMEOUT = '180000';

/** Why the engine cannot be tested; nothing if it answers. */
async function problemWith(endpoint: string | undefined): Promise<string | undefined> {
  if (!endpoint) return 'Set DYNAMODB_ENDPOINT to the address of a DynamoDB-compatible store.';
  const client = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
  });
  try {
    await client.send(new ListTablesCommand({}), { abortSignal: AbortSignal.timeout(10_000) });
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message || error.name : String(error);
    return `DynamoDB does not answer at ${endpoint}, where DYNAMODB_ENDPOINT says that it is: ${reason}`;
  }
}

/** Runs the tests and returns how many passed and failed. One that could not be loaded counts as failed. */
async function runTests(): Promise<{ readonly passed: number; readonly failed: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-conformance-'));
  const file = join(folder, 'report.json');
  const child = spawn(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      ...TESTS,
      '--tagsFilter=!units',
      `--testTimeout=${TEST_TIMEOUT}`,
      `--hookTimeout=${TEST_TIMEOUT}`,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${file}`,
    ],
    { cwd: project, stdio: 'inherit', env: { FUZZ_CALLS, FUZZ_PATIENCE, ...process.env } },
  );
  const [code] = await once(child, 'exit');
  const report = await readFile(file, 'utf8').then(JSON.parse, () => undefined);
  await rm(folder, { recursive: true });
  const failed: number = report?.numFailedTests ?? 0;
  return { passed: report?.numPassedTests ?? 0, failed: code === 0 ? 0 : Math.max(1, failed) };
}

const endpoint = process.env.DYNAMODB_ENDPOINT;
const problem = await problemWith(endpoint);
if (problem) {
  console.error(problem);
  process.exit(1);
}
const { passed, failed } = await runTests();
console.log(`conformance of ${endpoint}: ${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
