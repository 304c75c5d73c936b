import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const project = join(import.meta.dirname, '../..');

/** Milliseconds after which a start has gone wrong. */
const patience = 180_000;

export interface ServiceOptions {
  /** The project that is started; this one unless said otherwise. */
  readonly folder?: string;
  /** Variables besides those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** `npm start` in a process of its own, on a free port, with data of its own that go with it. */
export interface Service {
  readonly address: URL;
  /** Milliseconds until it was ready. */
  readonly readyMs: number;
  /** All that it said so far. */
  output(): string;
  stop(): Promise<void>;
}

/**
 * Starts the service and waits until it is ready.
 *
 * @throws Error with what it said when it ends, or is not ready within three minutes.
 */
export async function startService({
  folder = project,
  environment = {},
}: ServiceOptions = {}): Promise<Service> {
  const data = await mkdtemp(join(tmpdir(), 'parlance-bench-'));
  const began = performance.now();
  const child = spawn(process.execPath, [join(folder, 'infra/local/bootstrap.mjs'), 'infra/local/start.ts'], {
    env: { ...process.env, DATA_DIR: data, PORT: '0', API_RATE_LIMIT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await ended;
    await rm(data, { recursive: true, force: true });
  };
  let output = '';
  try {
    const address = await new Promise<URL>((resolve, reject) => {
      const fail = (why: string): void => reject(new Error(`npm start ${why}: ${output}`));
      const timer = setTimeout(() => fail('is not ready'), patience);
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text;
          const [, origin] = /\bready at (http:\S+?),? /.exec(output) ?? [];
          if (origin === undefined) return;
          clearTimeout(timer);
          resolve(new URL(origin));
        });
      }
      void ended.then(() => {
        clearTimeout(timer);
        fail('has ended');
      });
    });
    const readyMs = performance.now() - began;
    return { address, readyMs, output: () => output, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
