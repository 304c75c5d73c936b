import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './loopback.ts';
import { StartProblem } from './start-problem.ts';

export interface DynamoStore {
  /** Where DynamoDB answers. */
  readonly endpoint: URL;
  /** Resolves if the store ends by itself, with its last words. */
  readonly died: Promise<string>;
  stop(): Promise<void>;
  /** Ends the store at once and in the middle of everything, by `kill -9`, if it was started here. */
  kill(): Promise<void>;
}

/** Milliseconds that the store may take to answer for the first time. */
const startLimit = 10_000;

/**
 * Starts the store through a shell that waits for the end of its standard input, which comes when this process ends,
 * be it by `kill -9`. So no store outlives its parent. One that did would do no harm either: SQLite lets two
 * processes work on one file.
 */
const watchdog =
  '"$@" </dev/null & store=$!; exec >/dev/null 2>&1; read -r end; kill "$store"; wait "$store"';

/**
 * Starts the DynamoDB store that the packages bring, on a SQLite file, or takes the one at a given address.
 *
 * @throws StartProblem when there is no store for this machine, or it does not start or answer.
 */
export async function startDynamoStore(file: string, given: URL | undefined): Promise<DynamoStore> {
  if (given) return connect(given);
  const binary = findBinary();
  const port = await freePort();
  const endpoint = new URL(`http://127.0.0.1:${port}`);
  const command = [binary, 'serve', '--host', '127.0.0.1', '--port', String(port), '--db-path', file];
  // A group of its own, as Ctrl-C in a terminal goes to the whole group, and the store has to be the last to end.
  const shell = spawn('/bin/sh', ['-c', watchdog, 'sh', ...command], {
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    env: {},
  });
  let words = '';
  shell.stderr.on('data', (text) => {
    words = `${words}${text}`.slice(-500);
  });
  // Only the store holds this pipe by then, so it closes when the store ends.
  const died = once(shell.stderr, 'close').then(() => words.trim());
  const problem = await Promise.race([answers(endpoint), died]);
  if (problem !== undefined)
    throw new StartProblem(`The DynamoDB store did not start: ${problem || 'it ended'}.`);
  return {
    endpoint,
    died,
    async stop() {
      shell.stdin.end();
      await once(shell, 'exit');
    },
    async kill() {
      if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
      await died;
    },
  };
}

function findBinary(): string {
  try {
    return createRequire(import.meta.url).resolve(`@dynoxide/${process.platform}-${process.arch}/dynoxide`);
  } catch {
    throw new StartProblem(
      `The packages bring no DynamoDB store for ${process.platform} ${process.arch}: start one yourself, for example DynamoDB Local, and set DYNAMODB_ENDPOINT to its address.`,
    );
  }
}

async function connect(endpoint: URL): Promise<DynamoStore> {
  if ((await answers(endpoint)) !== undefined) {
    throw new StartProblem(
      `Nothing answers at ${endpoint.origin}, where DYNAMODB_ENDPOINT says that a store is.`,
    );
  }
  return { endpoint, died: new Promise(() => {}), stop: async () => {}, kill: async () => {} };
}

/** Waits until something answers there; says so if nothing does. */
async function answers(endpoint: URL): Promise<string | undefined> {
  const end = Date.now() + startLimit;
  while (Date.now() < end) {
    // An answer that breaks off is none.
    const answered = await fetch(endpoint)
      .then((response) => response.arrayBuffer())
      .catch(() => undefined);
    if (answered) return undefined;
    await sleep(10);
  }
  return 'it does not answer';
}
