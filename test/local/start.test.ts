import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { DemoName } from '../../infra/local/demo.ts';
import { findService } from '../../infra/local/service-file.ts';
import { STARTING } from '../support/local-service.ts';
import { basic } from '../support/raw-request.ts';
import { temporaryFolder } from './sample-cloud.ts';

const bootstrap = join(import.meta.dirname, '../../infra/local/bootstrap.mjs');

interface Run {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

/** Requests of a caller in a minute: more than this file makes as the member, and few enough to be used up. */
const LIMIT = 6;

const runs: Run[] = [];
let dataDirectory: string;

beforeAll(async () => {
  dataDirectory = await temporaryFolder();
});

afterAll(async () => {
  for (const { child } of runs) child.kill('SIGKILL');
  await rm(dataDirectory, { recursive: true, force: true });
});

/** `npm start`, without npm. */
function start(environment: Record<string, string> = {}, ...args: string[]): Run {
  const child = spawn(process.execPath, [bootstrap, 'infra/local/start.ts', ...args], {
    env: {
      ...process.env,
      DATA_DIR: dataDirectory,
      PORT: '0',
      DYNAMODB_ENDPOINT: '',
      API_RATE_LIMIT: String(LIMIT),
      ...environment,
    },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const run = { child, output: () => text, ended };
  runs.push(run);
  return run;
}

/** The last line, once it is there. */
const ready = async (run: Run): Promise<string> =>
  vi.waitFor(
    () => {
      const line = /^.*\bready\b.*\n/m.exec(run.output())?.[0];
      if (line === undefined) throw new Error(`not ready: ${run.output()}`);
      return line.trim();
    },
    { timeout: STARTING - 10_000, interval: 20 },
  );

/** Pastes a command into a shell. */
async function paste(command: string): Promise<string> {
  const shell = spawn('/bin/sh', ['-c', command]);
  let text = '';
  shell.stdout.on('data', (chunk) => (text += chunk));
  await once(shell, 'close');
  return text;
}

/** The processes that have a text in their command line. */
async function processesWith(text: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(
    ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')),
  );
  return commands.filter((command) => command.includes(text));
}

/** Asks as a demo account for their profile, and returns the status and how many requests they have left. */
async function asked(account: DemoName): Promise<[number, string | null]> {
  const text = await readFile(join(dataDirectory, 'zuliprc', `${account}.zuliprc`), 'utf8');
  const [, email = ''] = /^email=(.*)$/m.exec(text) ?? [];
  const [, apiKey = ''] = /^key=(.*)$/m.exec(text) ?? [];
  const { site } = findService(dataDirectory) ?? expect.fail('no service runs');
  const headers = { authorization: basic({ email, apiKey }) };
  const reply = await fetch(new URL('/api/v1/users/me', site), { headers });
  return [reply.status, reply.headers.get('x-ratelimit-remaining')];
}

const commandOf = (line: string): string => /curl .*$/.exec(line)?.[0] ?? '';
const keyOf = (command: string): string | undefined => /member@example\.com:(\w+)/.exec(command)?.[1];

/** Kills the process below the bootstrap, in which everything runs. */
async function killService({ child, ended }: Run): Promise<void> {
  const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
  for (const id of children.trim().split(' ')) process.kill(Number(id), 'SIGKILL');
  expect(await ended).toBeNull();
}

// On a busy machine it takes longer than other tests may; how long is for `npm run bench` to say.
describe('npm start', { timeout: 3 * STARTING }, () => {
  test('prints one line with the address, the user and a command that works', async () => {
    const run = start();
    const line = await ready(run);
    expect(line).toMatch(
      /ready at http:\/\/127\.0\.0\.1:\d+ with the accounts owner, admin, moderator, member, guest, bot /,
    );
    expect(run.output().trim().split('\n').at(-1)?.trim()).toBe(line);
    expect(JSON.parse(await paste(commandOf(line)))).toMatchObject({
      result: 'success',
      id: expect.any(Number),
    });
    // Other commands find the service where it says that it is, as long as it runs.
    const { site, dynamodb } = findService(dataDirectory) ?? {};
    expect(line).toContain(`${site?.origin} with`);
    expect((await fetch(dynamodb ?? '')).status).toBeLessThan(500);
    run.child.kill('SIGINT');
    expect(await run.ended).toBe(0);
    expect(await processesWith(dataDirectory)).toEqual([]);
  });

  test('continues after kill -9 of the service or its parent, with the same keys and data', async () => {
    const first = start();
    const command = commandOf(await ready(first));
    const ids = [JSON.parse(await paste(command)).id];
    await killService(first);
    const database = `${dataDirectory}/dynamodb.sqlite`;
    await vi.waitFor(async () => expect(await processesWith(database)).toEqual([]), 30_000);

    const second = start();
    const again = commandOf(await ready(second));
    expect(keyOf(again)).toBe(keyOf(command));
    ids.push(JSON.parse(await paste(again)).id);
    second.child.kill('SIGKILL');

    const third = start();
    ids.push(JSON.parse(await paste(commandOf(await ready(third)))).id);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(new Set(ids).size).toBe(3);
    third.child.kill('SIGTERM');
    expect(await third.ended).toBe(0);
    await vi.waitFor(async () => expect(await processesWith(dataDirectory)).toEqual([]), 30_000);
  });

  test('stopped while it makes the template, by a signal or kill -9, it leaves nothing behind', async () => {
    for (const signal of ['SIGINT', 'SIGKILL'] as const) {
      const folder = await temporaryFolder();
      const run = start({ DATA_DIR: folder });
      const isMaking = async () =>
        (await processesWith(folder)).some((it) => it.includes('assembly-process'));
      await vi.waitFor(async () => expect(await isMaking()).toBe(true), 30_000);
      run.child.kill(signal);
      expect(await run.ended).toBe(signal === 'SIGINT' ? 0 : null);
      await vi.waitFor(async () => expect(await processesWith(folder)).toEqual([]), 30_000);
    }
  });

  describe('while it runs', () => {
    let running: Run;
    beforeAll(async () => {
      running = start();
      await ready(running);
    }, STARTING);
    afterAll(async () => {
      running.child.kill('SIGINT');
      await running.ended;
    });

    test('the service counts requests even if a function only reads, up to `API_RATE_LIMIT`', async () => {
      // Within one minute one more than there may be, wherever in a minute the first one falls.
      const answers = [];
      for (let sent = 0; sent < 2 * LIMIT + 2; sent++) answers.push(await asked('guest'));
      expect(answers[0]).toEqual([200, String(LIMIT - 1)]);
      expect(answers).toContainEqual([200, '0']);
      expect(answers).toContainEqual([429, '0']);
    });

    test('another start names the conflict in one sentence, and ends', async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as { port: number };
      const [other, third] = [await temporaryFolder(), await temporaryFolder()];
      const cases: [Run, RegExp][] = [
        [start(), /^Another npm start has DATA_DIR .*\n$/],
        [start({ DATA_DIR: other, PORT: String(port) }), /^Port \d+ is in use: .*\n$/],
        [start({ DATA_DIR: third, SMTP_PORT: String(port) }), /^Port \d+ is in use: .* SMTP_PORT .*\n$/],
        [start({ DATA_DIR: '/proc/nothing' }), /^DATA_DIR \/proc\/nothing cannot be written \(\w+\): .*\n$/],
        [start({ PORT: 'many' }), /^PORT must be .*\n$/],
        [start({ DATA_DIR: other }, '--quickly'), /^npm start takes nothing but --logs: .*\n$/],
      ];
      for (const [run, sentence] of cases) {
        expect(await run.ended).toBe(1);
        expect(run.output()).toMatch(sentence);
      }
      server.close();
    });
  });
});
