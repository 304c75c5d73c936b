import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Build, buildFunctions } from '../../infra/build.ts';
import { designBudgets } from '../support/design-budgets.ts';
import { sources as fixtures, temporaryFolder } from './fixtures/synthesized.ts';

const folder = await temporaryFolder();
const sources = join(folder, 'functions');
const outdir = join(folder, 'dist');

describe('buildFunctions', () => {
  let first: Build;

  const declared = (...ids: string[]) => ({
    endpoints: ids.filter((id) => id.includes('.')).map((id) => ({ id })),
    workers: ids.filter((id) => !id.includes('.')).map((id) => ({ id })),
    sources,
    outdir,
  });
  const build = (...ids: string[]) => buildFunctions(declared(...ids));

  beforeAll(async () => {
    await cp(fixtures, sources, { recursive: true });
    // The copies look for packages in the folders above them.
    await symlink(resolve(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'));
    first = await build('messages.send', 'messages.list', 'export');
  });

  const hashes = ({ bundles }: Build) =>
    Object.fromEntries(Object.entries(bundles).map(([id, { hash }]) => [id, hash]));

  test('makes one folder for each function, which contains only a handler that runs', async () => {
    expect(Object.keys(first.bundles).sort()).toEqual(['export', 'messages.list', 'messages.send']);
    for (const { directory, bytes } of Object.values(first.bundles)) {
      expect(await readdir(directory)).toEqual(['index.mjs']);
      expect((await readFile(join(directory, 'index.mjs'))).length).toBe(bytes);
    }
    const worker = await import(join(outdir, 'export/index.mjs'));
    expect(await worker.handler()).toEqual({ batchItemFailures: [] });
  });

  test('keeps a function with the document client, middy and validation within the budget', async () => {
    const { bytes, directory } = first.bundles['messages.send'] ?? expect.fail('not built');
    expect(bytes).toBeLessThanOrEqual(designBudgets.bundleBytes);
    const { handler } = await import(join(directory, 'index.mjs'));
    expect(handler).toBeTypeOf('function');
  });

  test('leaves out the default credential chain and the event streams, but keeps credentials of the environment', async () => {
    const code = await readFile(join(outdir, 'messages.send/index.mjs'), 'utf8');
    expect(code).toContain('AWS_ACCESS_KEY_ID');
    const others = /sso_start_url|credential_process|AWS_CONTAINER_CREDENTIALS|AWS_WEB_IDENTITY_TOKEN_FILE/;
    expect(code).not.toMatch(others);
    // The name of a header of each event.
    expect(code).not.toContain(':event-type');
  });

  test('refuses a name that a package does not have', async () => {
    const file = join(sources, 'messages/list.ts');
    const before = await readFile(file, 'utf8');
    await writeFile(file, "import * as z from 'zod/mini';\nexport const handler = () => z.nothing('x');");
    await expect(build('messages.list')).rejects.toThrow('nothing');
    await writeFile(file, before);
  });

  test('writes a source map with the names of the sources outside of the deployed folder, on request', async () => {
    expect(existsSync(join(outdir, 'maps'))).toBe(false);
    const three = declared('messages.send', 'messages.list', 'export');
    expect(await buildFunctions({ ...three, sourceMaps: true })).toEqual({ ...first, unchanged: false });
    const map = JSON.parse(await readFile(join(outdir, 'maps/messages.list.mjs.map'), 'utf8'));
    expect(map.sources).toHaveLength(1);
    expect(map.sources[0]).toMatch(/messages\/list\.ts$/);
  });

  test('does nothing if nothing has changed, and returns the same result', async () => {
    const again = await build('messages.send', 'messages.list', 'export');
    expect(again.unchanged).toBe(true);
    expect(again.bundles).toEqual(first.bundles);
  });

  test('changes only the digest of the function whose code changed', async () => {
    await writeFile(
      join(sources, 'messages/list.ts'),
      "export const handler = async () => ({ statusCode: 404, body: 'changed' });",
    );
    const next = await build('messages.send', 'messages.list', 'export');
    expect(next.unchanged).toBe(false);
    expect(hashes(next)).toEqual({ ...hashes(first), 'messages.list': expect.any(String) });
    expect(next.bundles['messages.list']?.hash).not.toBe(first.bundles['messages.list']?.hash);
  });

  test('builds again if a bundle was deleted', async () => {
    await build('messages.list', 'export');
    await rm(join(outdir, 'export'), { recursive: true });
    expect((await build('messages.list', 'export')).unchanged).toBe(false);
    expect(await readdir(join(outdir, 'export'))).toEqual(['index.mjs']);
  });

  test('removes what a build left that was stopped, and not what another one is making', async () => {
    const [left, made] = [join(outdir, 'left.draft'), join(outdir, 'made.draft')];
    for (const draft of [left, made]) await mkdir(draft, { recursive: true });
    const hourAgo = Date.now() / 1_000 - 3_600;
    await utimes(left, hourAgo, hourAgo);
    await build('messages.list');
    expect((await readdir(outdir)).filter((name) => name.endsWith('.draft'))).toEqual(['made.draft']);
    await rm(made, { recursive: true });
  });

  test('removes the folder of a function that is no longer declared', async () => {
    await build('messages.list', 'export');
    await build('messages.list');
    expect((await readdir(outdir)).sort()).toEqual(['build.json', 'messages.list', 'metafile.json']);
  });

  test('names every declared function that has no code', async () => {
    await expect(build('messages.list', 'messages.forget', 'forget')).rejects.toThrow(
      /^Declared, but not written: .*messages\/forget\.ts, .*workers\/forget\.ts\.$/,
    );
  });
});
