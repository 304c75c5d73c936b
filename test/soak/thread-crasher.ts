/**
 * Loaded by `npm start` in a soak before everything else (`node --import`): lets functions and the listener be killed
 * from outside, in the middle of what they do, as Lambda's sandboxes die of an exhausted memory. The soak names the
 * function by its access key id.
 */
import children, { type ChildProcess, type SpawnOptions } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

interface Options extends threads.WorkerOptions {
  readonly workerData?: { readonly functionName?: string };
}

/** The threads that handle an event at this moment, with the access key of their function. */
const busy = new Map<threads.Worker, string>();

class MortalWorker extends threads.Worker {
  readonly #accessKeyId: string | undefined;

  constructor(code: string | URL, options: Options = {}) {
    super(code, options);
    const { env, workerData } = options;
    if (workerData?.functionName === undefined || typeof env !== 'object') return;
    this.#accessKeyId = env.AWS_ACCESS_KEY_ID;
    // The first message says that it is loaded, each other one that an event is handled.
    this.on('message', () => busy.delete(this));
    this.on('exit', () => busy.delete(this));
  }

  override postMessage(value: unknown): void {
    if (this.#accessKeyId !== undefined) busy.set(this, this.#accessKeyId);
    super.postMessage(value);
  }
}

/** The newest process of the listener, with its access key. */
let listener: { readonly process: ChildProcess; readonly accessKeyId: string | undefined } | undefined;

const { spawn } = children;
const spawnNoting = (command: string, args: readonly string[], options: SpawnOptions): ChildProcess => {
  const child = spawn(command, args, options);
  const { AWS_LAMBDA_HTTP_ENDPOINT: address, AWS_ACCESS_KEY_ID: accessKeyId } = options.env ?? {};
  if (address !== undefined) listener = { process: child, accessKeyId };
  return child;
};

function endListener(signal: NodeJS.Signals): void {
  const { pid, exitCode = null, signalCode = null } = listener?.process ?? {};
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  // It leads a group of its own: the server, and the shell that watches over it.
  process.kill(-pid, signal);
}

threads.Worker = MortalWorker;
children.spawn = spawnNoting as typeof spawn;
syncBuiltinESMExports();

/** What the soak asks for: to end a function with this access key, or the listener with this signal. */
export type Order = { readonly crash: string } | { readonly endListener: NodeJS.Signals };

process.on('message', (order: Order) => {
  if ('endListener' in order) return endListener(order.endListener);
  const { crash } = order;
  if (crash === listener?.accessKeyId) return endListener('SIGKILL');
  // Of several copies of a function it is the one that began last: the others wait for news, most likely.
  const [worker] = [...busy].findLast(([, accessKeyId]) => accessKeyId === crash) ?? [];
  if (worker === undefined) return;
  busy.delete(worker);
  void worker.terminate();
});
