import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type Bundles, buildFunctions } from '../../infra/build.ts';
import { readableTrace } from '../../infra/stack-trace.ts';
import * as declarations from './fixtures/declarations.ts';
import { sources, temporaryFolder } from './fixtures/synthesized.ts';

const outdir = join(await temporaryFolder(), 'dist');
let bundles: Bundles;

beforeAll(async () => {
  ({ bundles } = await buildFunctions({ ...declarations, sources, outdir, sourceMaps: true }));
});

/** Where the last line of the code of a function stands, in its bundle. */
async function lastPlace(id: string): Promise<string> {
  const lines = (await readFile(join(outdir, id, 'index.mjs'), 'utf8')).trimEnd().split('\n');
  return `${lines.length}:${lines.at(-1)?.lastIndexOf('export') ?? 0}`;
}

const logged = (fields: Readonly<Record<string, unknown>>) =>
  `2026-11-22T10:00:00.000Z ${JSON.stringify({ level: 'ERROR', requestId: 'r', ...fields })}`;

test('a trace of the deployed code is translated to files and lines of the sources', async () => {
  const place = await lastPlace('messages.send');
  const code = bundles['messages.send']?.code;
  const error = `Error: no use\n    at a (file:///var/task/index.mjs:${place})\n    at node:internal/x:1:2`;
  const trace = await readableTrace(logged({ endpoint: 'messages.send', code, error }), { bundles, outdir });
  expect(trace).toMatch(
    /^messages\.send\nError: no use\n {4}at a \((test\/infra\/fixtures|shared|node_modules)\/[\w./@-]+\.(ts|js):\d+:\d+\)\n {4}at node:internal\/x:1:2$/,
  );
});

test('a trace of other code is left as it is, with a note', async () => {
  const error = 'Error: no use\n    at a (file:///var/task/index.mjs:1:1)';
  const trace = await readableTrace(logged({ worker: 'export', code: '0123456789ab', error }), {
    bundles,
    outdir,
  });
  expect(trace).toBe(
    `export ran other code than this checkout: check out the commit that was deployed.\n${error}`,
  );
  expect(await readableTrace(logged({ worker: 'gone', error }), { bundles, outdir })).toContain(
    'gone is not in this checkout.',
  );
});

test.each(['', 'REPORT RequestId: r', '{"level":"WARN","message":"mail dropped"}', '{broken'])(
  'a line without a trace is skipped: %s',
  async (line) => {
    expect(await readableTrace(line, { bundles, outdir })).toBeUndefined();
  },
);
