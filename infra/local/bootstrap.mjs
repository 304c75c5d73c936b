/**
 * What `npm start`, `npm test` and `npm run org` run first, with whatever Node the host has (from 20 on): installs the packages from
 * the lock file if need be, then hands over to the Node of the packages, which is the one that Lambda runs.
 *
 * Plain JavaScript with Node's own modules only, since nothing else may be there yet. What it says goes to the standard
 * error output, as the other one is for the results of the script.
 */
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Milliseconds between two signs of life while packages are installed. */
const patience = 10_000;

const timeOf = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs;

/**
 * Whether the packages in a project are those of its lock file: npm writes a record of its own when it is done with
 * all of them.
 */
export function isInstalled(project) {
  const wanted = timeOf(join(project, 'package-lock.json'));
  const done = timeOf(join(project, 'node_modules/.package-lock.json'));
  const node = timeOf(join(project, 'node_modules/.bin/node'));
  return wanted !== undefined && done !== undefined && node !== undefined && done >= wanted;
}

/** The command that installs the packages of the lock file. Under npm it is that very npm, found by its path. */
export function installCommand(environment) {
  const npm = environment.npm_execpath;
  const command = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
  return [...command, 'ci', '--no-audit', '--no-fund', '--loglevel=error'];
}

/** Runs a command with this process's terminal and signals, and resolves with how it ended. */
function run([command, ...args], options) {
  return new Promise((done, failed) => {
    const child = spawn(command, args, { stdio: 'inherit', ...options });
    const watch = followNpm(child);
    const pass = (signal) => child.kill(signal);
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, pass);
    child.on('error', failed);
    child.on('exit', (code, signal) => {
      for (const each of signals) process.off(each, pass);
      clearInterval(watch);
      done({ code, signal });
    });
  });
}

/**
 * Stops the child when npm has gone without a word, as after `kill -9`: else it would go on and keep the port and
 * the data. Only npm is followed, as it is usual for a shell to end before what it started.
 */
function followNpm(child) {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  const npm = process.ppid;
  return setInterval(() => {
    if (process.ppid !== npm) child.kill('SIGTERM');
  }, 200);
}

async function install(project) {
  const begin = Date.now();
  console.error('Installing the packages of the lock file; this takes a minute the first time.');
  const sign = setInterval(() => {
    console.error(`Still installing, ${Math.round((Date.now() - begin) / 1000)} s so far.`);
  }, patience);
  const { code } = await run(installCommand(process.env), {
    cwd: project,
    stdio: ['inherit', process.stderr, 'inherit'],
  });
  clearInterval(sign);
  if (code !== 0 || !isInstalled(project)) {
    console.error('The packages could not be installed: see the messages of npm above.');
    process.exit(1);
  }
}

/**
 * Megabytes of half the young generation of a heap. Where memory is plenty, V8 lets that grow to many times as much, and it
 * then holds garbage of requests that wait.
 */
const youngHeapMb = 8;

/** How much (percent) the old generation grows before its garbage is collected: V8 would let it double, or more. */
const oldHeapGrowth = 30;

/**
 * How the allocator of glibc gives back what functions used that have ended. By itself it keeps an arena for each of up to
 * eight times as many threads as there are processors, and learns to keep ever larger blocks at the end of each (bytes).
 * Other systems do not read these.
 */
const allocator = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: String(512 * 1024) };

async function main(project, [script, ...args]) {
  if (!isInstalled(project)) await install(project);
  const node = join(project, 'node_modules/.bin/node');
  // SQLite and the stripping of types are called experimental, and are what Lambda's Node has.
  const flags = [
    '--disable-warning=ExperimentalWarning',
    `--max-semi-space-size=${youngHeapMb}`,
    `--heap-growing-percent=${oldHeapGrowth}`,
  ];
  const command = [node, ...flags, join(project, script), ...args];
  // The channel says nothing; its end tells the child that this process is gone.
  const { code, signal } = await run(command, {
    cwd: project,
    env: { ...allocator, ...process.env },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  if (signal) process.kill(process.pid, signal);
  else process.exitCode = code ?? 1;
}

const file = fileURLToPath(import.meta.url);
if (process.argv[1] && resolve(process.argv[1]) === file) {
  await main(join(dirname(file), '../..'), process.argv.slice(2));
}
