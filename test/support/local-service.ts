import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { DemoName } from '../../infra/local/demo.ts';
import { ASSEMBLY, usualEnvironment } from './usual-assembly.ts';

/** The whole service as `npm start` runs it, on a port and in a data folder of its own. */
export interface LocalService {
  readonly address: string;
  /** The client configuration file of a demo account. */
  readonly zuliprc: (account: DemoName) => string;
  /** Ends the service at once, as a power cut would. */
  readonly kill: () => Promise<void>;
  /** Starts it again where it was: same port, same data. */
  readonly restart: () => Promise<void>;
  readonly end: () => Promise<void>;
}

/** Longest time (ms) that a start of the service takes on a busy machine: the limit of a hook that starts it. */
export const STARTING = 300_000;

const entry = join(import.meta.dirname, '../../infra/local/start.ts');

/** Starts the service, with these variables besides, and waits until it says that it is ready. */
export async function startLocalService(
  variables: Readonly<Record<string, string>> = {},
): Promise<LocalService> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-client-'));
  const assembly = process.env[ASSEMBLY];
  if (assembly !== undefined) await symlink(assembly, join(folder, 'assembly'));
  let address = '';
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const port = address === '' ? '0' : new URL(address).port;
    const environment = {
      ...process.env,
      DATA_DIR: folder,
      PORT: port,
      ...usualEnvironment,
      ...variables,
    };
    const service = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', entry], {
      env: environment,
    });
    child = service;
    let output = '';
    for (const stream of [service.stdout, service.stderr]) stream.on('data', (chunk) => (output += chunk));
    await vi.waitFor(
      () => {
        const ready = /\bready at (http:\S+)/.exec(output)?.[1];
        if (ready === undefined) throw new Error(`the service is not ready:\n${output}`);
        address = ready;
      },
      { timeout: STARTING - 10_000, interval: 50 },
    );
  };
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  await start();
  return {
    get address() {
      return address;
    },
    zuliprc: (account) => join(folder, 'zuliprc', `${account}.zuliprc`),
    kill: () => kill('SIGKILL'),
    restart: start,
    end: async () => {
      await kill('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
