import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nativeVersion, placePackage, thisMachine } from '../../infra/native-packages.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parlance-native-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('a package with machine code', () => {
  test('works beside a bundle, without the rest of the project', async () => {
    await placePackage('sharp', thisMachine, folder, join(folder, 'fetched'));
    const sharp: typeof import('sharp')['default'] = createRequire(join(folder, 'index.mjs'))('sharp');
    expect(sharp.versions.sharp).toBe(await nativeVersion('sharp'));
    const { info } = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
      .png()
      .toBuffer({ resolveWithObject: true });
    expect(info).toMatchObject({ format: 'png', width: 8 });
  });

  test('contains the code of one machine only', async () => {
    await placePackage('sharp', thisMachine, folder, join(folder, 'fetched'));
    const parts = await readdir(join(folder, 'node_modules/@img'));
    expect(parts.filter((part) => part.startsWith('sharp-')).sort()).toEqual([
      `sharp-libvips-${thisMachine}`,
      `sharp-${thisMachine}`,
    ]);
  });

  test('that is not available for a machine stops the build with one sentence', async () => {
    await expect(placePackage('sharp', 'plan9-mips', folder, join(folder, 'fetched'))).rejects.toThrow(
      /^There is no sharp \S+ for plan9-mips, and a function needs it\.$/,
    );
  });
});
