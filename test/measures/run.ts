/**
 * `npm run measures`: how easy it is to find one's way in the code, as counts beside the values that are wanted.
 * `npm run measures -- --list` names what is counted, one by one. Fails while a value is not as wanted.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';
import { terminalTable } from '../bench/table.ts';
import { project } from '../checks.ts';
import { enteredWanted, measures, readCode } from './measures.ts';

type Request = keyof typeof enteredWanted;

const { values } = parseArgs({ options: { list: { type: 'boolean', default: false } } });

/** The files that each request enters, from a run of vitest, which has the stores that tests have. */
async function entered(): Promise<Readonly<Record<Request, readonly string[]>>> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-measures-'));
  process.env.ENTERED_RESULT = join(folder, 'result.json');
  const vitest = await startVitest('test', [], {
    include: ['test/measures/*.measure.ts'],
    root: project,
    watch: false,
    // What is printed is the result.
    reporters: [
      {
        onTestCaseResult: (test) => {
          for (const { message } of test.result().errors ?? []) console.error(message);
        },
      },
    ],
  });
  await vitest.close();
  try {
    return JSON.parse(await readFile(process.env.ENTERED_RESULT, 'utf8'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const code = await readCode(project);
const rows = [
  ...measures.map(({ name, wanted, count, list }) => ({
    name,
    wanted,
    now: count(code),
    listed: list?.(code) ?? [],
  })),
  ...Object.entries(await entered()).map(([request, files]) => ({
    name: `files entered by one ${request}`,
    wanted: enteredWanted[request as Request],
    now: files.length,
    listed: files.toSorted(),
  })),
];
if (values.list)
  for (const { name, listed } of rows)
    if (listed.length > 0) console.log(`${name}\n${listed.map((each) => `  ${each}`).join('\n')}\n`);
console.log(
  terminalTable(
    [{ head: 'measure' }, { head: 'now', figures: true }, { head: 'wanted', figures: true }, { head: '' }],
    rows.map(({ name, now, wanted }) => [name, now, wanted, now <= wanted ? 'ok' : 'not yet']),
  ),
);
if (rows.some(({ now, wanted }) => now > wanted)) process.exitCode = 1;
