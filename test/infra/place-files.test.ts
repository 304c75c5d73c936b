import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { placeFile, placeFolder } from '../../infra/place-files.ts';
import { placeBundles } from '../../infra/synthesize.ts';
import * as declarations from './fixtures/declarations.ts';
import { buildFixtures, synthesized, temporaryFolder } from './fixtures/synthesized.ts';

const folder = await temporaryFolder();

test('a folder is placed with all that is in it, without a copy', async () => {
  await mkdir(join(folder, 'from/deep'), { recursive: true });
  await writeFile(join(folder, 'from/deep/file'), 'text');
  await placeFolder(join(folder, 'from'), join(folder, 'to'));
  const [from, to] = await Promise.all(['from', 'to'].map((it) => stat(join(folder, it, 'deep/file'))));
  expect(to?.ino).toBe(from?.ino);
});

test('nothing is placed over a file that is there', async () => {
  for (const name of ['one', 'two']) await writeFile(join(folder, name), name);
  await expect(placeFile(join(folder, 'one'), join(folder, 'two'))).rejects.toThrow('EEXIST');
  expect(await readFile(join(folder, 'two'), 'utf8')).toBe('two');
});

test('the CDK takes the folders of bundles that are already in the assembly', async () => {
  const bundles = await buildFixtures(join(folder, 'dist'));
  const outdir = join(folder, 'assembly');
  await placeBundles(bundles, outdir);
  const before = (await readdir(outdir)).filter(isAsset);
  const template = synthesized(bundles, outdir, declarations);
  expect((await readdir(outdir)).filter(isAsset)).toEqual(before);
  for (const { id } of [...declarations.endpoints, ...declarations.workers]) {
    const asset = String(template.functionOf(id)[1].Metadata?.['aws:asset:path']);
    expect((await stat(join(outdir, asset, 'index.mjs'))).nlink, id).toBe(2);
  }
});

const isAsset = (name: string): boolean => name.startsWith('asset.');
