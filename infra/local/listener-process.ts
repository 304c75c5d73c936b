import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './loopback.ts';
import { StartProblem } from './start-problem.ts';

export interface ListenerProcessOptions {
  /** The folder of its bundle. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Takes what it writes to its standard output and standard error. */
  readonly onOutput: (text: Uint8Array) => void;
  /** Called when it ended by itself; it is started again. */
  readonly onEnd: () => void;
}

/** Milliseconds that it may take to listen, and between two looks for whether it does. */
const startLimit = 10_000;
const checkInterval = 10;

/** Milliseconds before a process that ended by itself is started again: doubled as long as it does not last. */
const shortestPause = 100;
const longestPause = 5_000;

/** Milliseconds after which a process has lasted. */
const lasting = 10_000;

/**
 * Megabytes of half the young generation of its heap. Where memory is plenty, V8 lets that grow to many times as much, and
 * it then holds garbage of polls that came long ago.
 */
const youngHeapMb = 2;

/** How much (percent) the old generation grows before its garbage is collected: V8 would let it double, or more. */
const oldHeapGrowth = 30;

/**
 * Runs the process through a shell that waits for the end of its standard input, which comes when this process ends,
 * be it by `kill -9`. So no listener outlives its parent.
 */
const watchdog =
  '"$@" </dev/null & server=$!; exec >/dev/null 2>&1; read -r end; kill "$server"; wait "$server"';

/** The server of a listener as one process, which is started again if it ends by itself. */
export class ListenerProcess {
  readonly #options: ListenerProcessOptions;
  readonly #port: number;
  #shell: ReturnType<typeof spawn> | undefined;
  #ready: Promise<void> = Promise.resolve();
  #isStopping = false;

  private constructor(options: ListenerProcessOptions, port: number) {
    this.#options = options;
    this.#port = port;
  }

  /** Starts it, and waits until it listens. */
  static async start(options: ListenerProcessOptions): Promise<ListenerProcess> {
    const started = new ListenerProcess(options, await freePort());
    started.#start(shortestPause);
    await started.#ready;
    return started;
  }

  get port(): number {
    return this.#port;
  }

  /** Resolves when it listens, which takes a moment after it ended by itself. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /** Ends it by SIGTERM, on which it ends the polls that it holds, and waits for its end. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const shell = this.#shell;
    if (shell === undefined || shell.exitCode !== null) return;
    const ended = once(shell, 'exit');
    shell.stdin?.end();
    await ended;
  }

  #start(pause: number): void {
    const { directory, environment, onOutput, onEnd } = this.#options;
    const begin = Date.now();
    const flags = [
      `--max-semi-space-size=${youngHeapMb}`,
      `--heap-growing-percent=${oldHeapGrowth}`,
      '--enable-source-maps',
    ];
    const command = [process.execPath, ...flags, join(directory, 'index.mjs')];
    // A group of its own, as Ctrl-C in a terminal goes to the whole group.
    const shell = spawn('/bin/sh', ['-c', watchdog, 'sh', ...command], {
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...environment, AWS_LAMBDA_HTTP_ENDPOINT: `127.0.0.1:${this.#port}` },
    });
    this.#shell = shell;
    for (const output of [shell.stdout, shell.stderr]) output.on('data', onOutput);
    this.#ready = this.#listens();
    this.#ready.catch(() => {});
    // Only the server holds this pipe by then, so it closes when the server ends.
    shell.stdout.once('close', async () => {
      shell.stdin.end();
      if (this.#isStopping) return;
      onEnd();
      const next = Date.now() - begin > lasting ? shortestPause : Math.min(2 * pause, longestPause);
      this.#ready = sleep(pause).then(() => {
        if (!this.#isStopping) this.#start(next);
        return this.#ready;
      });
      this.#ready.catch(() => {});
    });
  }

  async #listens(): Promise<void> {
    const end = Date.now() + startLimit;
    while (Date.now() < end && !this.#isStopping) {
      const socket = connect(this.#port, '127.0.0.1');
      const isOpen = await once(socket, 'connect').then(
        () => true,
        () => false,
      );
      socket.destroy();
      if (isOpen) return;
      await sleep(checkInterval);
    }
    if (!this.#isStopping) throw new StartProblem('The listener does not listen.');
  }
}
