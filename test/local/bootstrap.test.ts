import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { temporaryFolder } from './sample-cloud.ts';

const run = promisify(execFile);
const source = join(import.meta.dirname, '../../infra/local/bootstrap.mjs');
const { isInstalled, installCommand } = (await import(source)) as {
  isInstalled: (project: string) => boolean;
  installCommand: (environment: Record<string, string>) => string[];
};

/** A project that has a lock file and the bootstrap, and an npm that only notes how it was called. */
async function project(): Promise<{ readonly folder: string; readonly npm: string }> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'infra/local'), { recursive: true });
  await cp(source, join(folder, 'infra/local/bootstrap.mjs'));
  await writeFile(join(folder, 'package-lock.json'), '{}');
  await writeFile(
    join(folder, 'script.mjs'),
    'console.log("script", ...process.argv.slice(2)); process.exitCode = 5;',
  );
  const npm = join(folder, 'npm-cli.js');
  const node = join(folder, 'node_modules/.bin/node');
  await writeFile(
    npm,
    `const fs = require('node:fs');
     fs.writeFileSync('${join(folder, 'called')}', process.argv.slice(2).join(' '));
     if (process.env.NPM_FAILS) process.exit(1);
     fs.mkdirSync('${join(folder, 'node_modules/.bin')}', { recursive: true });
     fs.writeFileSync('${node}', '#!/bin/sh\\nexec "${process.execPath}" "$@"\\n', { mode: 0o755 });
     fs.writeFileSync('${join(folder, 'node_modules/.package-lock.json')}', '{}');`,
  );
  return { folder, npm };
}

const start = ({ folder, npm }: Awaited<ReturnType<typeof project>>, environment = {}) =>
  run(process.execPath, [join(folder, 'infra/local/bootstrap.mjs'), 'script.mjs', 'one', '--two'], {
    env: { ...process.env, npm_execpath: npm, ...environment },
  }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );

describe('the bootstrap', () => {
  test('installs from the lock file, then runs the script with the Node of the packages', async () => {
    const it = await project();
    expect(isInstalled(it.folder)).toBe(false);
    const { code, stdout, stderr } = await start(it);
    expect(stdout).toBe('script one --two\n');
    expect(stderr).toBe('Installing the packages of the lock file; this takes a minute the first time.\n');
    expect(code).toBe(5);
    expect(await readFile(join(it.folder, 'called'), 'utf8')).toMatch(/^ci( |$)/);
  });

  test('installs again only when the lock file is newer than the packages', async () => {
    const it = await project();
    await start(it);
    await writeFile(join(it.folder, 'called'), 'not again');
    expect((await start(it)).stdout).toBe('script one --two\n');
    expect(await readFile(join(it.folder, 'called'), 'utf8')).toBe('not again');
    const soon = Date.now() / 1000 + 60;
    await utimes(join(it.folder, 'package-lock.json'), soon, soon);
    expect(isInstalled(it.folder)).toBe(false);
  });

  test('has the allocator give memory back, unless the host says how', async () => {
    const it = await project();
    await start(it);
    await writeFile(
      join(it.folder, 'script.mjs'),
      'console.log(process.env.MALLOC_ARENA_MAX, process.env.MALLOC_TRIM_THRESHOLD_);',
    );
    // The tests themselves were started by a bootstrap.
    const host = { MALLOC_ARENA_MAX: '7', MALLOC_TRIM_THRESHOLD_: undefined };
    expect((await start(it, host)).stdout).toBe('7 524288\n');
  });

  test('does not mistake half of an installation for a whole one', async () => {
    const it = await project();
    await mkdir(join(it.folder, 'node_modules/.bin'), { recursive: true });
    await writeFile(join(it.folder, 'node_modules/.bin/node'), '');
    expect(isInstalled(it.folder)).toBe(false);
    await chmod(join(it.folder, 'node_modules/.bin/node'), 0o755);
    const { code, stderr } = await start(it, { NPM_FAILS: '1' });
    expect(code).toBe(1);
    expect(stderr).toContain('The packages could not be installed: see the messages of npm above.');
  });

  test('uses the npm that it runs under, or else the one on the path', () => {
    expect(installCommand({ npm_execpath: '/npm/bin/npm-cli.js' }).slice(0, 3)).toEqual([
      process.execPath,
      '/npm/bin/npm-cli.js',
      'ci',
    ]);
    expect(installCommand({}).slice(0, 2)).toEqual(['npm', 'ci']);
  });

  test('forwards signals, and exits with the status of the script', async () => {
    const it = await project();
    await start(it);
    await writeFile(
      join(it.folder, 'script.mjs'),
      'process.on("SIGTERM", () => process.exit(7)); setInterval(() => {}, 1000); console.log("up");',
    );
    const child = execFile(process.execPath, [join(it.folder, 'infra/local/bootstrap.mjs'), 'script.mjs']);
    await once(child.stdout as NodeJS.EventEmitter, 'data');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  test('stops the script when npm is killed, which sends no signal', async () => {
    const it = await project();
    await start(it);
    const ended = join(it.folder, 'ended');
    await writeFile(
      join(it.folder, 'script.mjs'),
      `process.on('SIGTERM', () => { fs.writeFileSync('${ended}', ''); process.exit(); });
       import fs from 'node:fs'; setInterval(() => {}, 1000); console.log('up');`,
    );
    const command = JSON.stringify([join(it.folder, 'infra/local/bootstrap.mjs'), 'script.mjs']);
    const npm = `require('node:child_process').spawn(process.execPath, ${command}, { stdio: 'inherit' })`;
    const child = execFile(process.execPath, ['-e', npm], {
      env: { ...process.env, npm_lifecycle_event: 'start' },
    });
    await once(child.stdout as NodeJS.EventEmitter, 'data');
    child.kill('SIGKILL');
    await vi.waitFor(() => expect(existsSync(ended)).toBe(true), 30_000);
  });
});
