/**
 * Loaded by `npm start` in a soak before everything else (`node --import`): lets functions be killed from outside, in
 * the middle of what they do, as Lambda's sandboxes die when memory is exhausted. The parent process names the function
 * whose thread is to end by its access key id.
 */
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

threads.Worker = MortalWorker;
syncBuiltinESMExports();

process.on('message', ({ crash }: { readonly crash: string }) => {
  // Of several copies of a function it is the one that began last: the others wait for news, most likely.
  const [worker] = [...busy].findLast(([, accessKeyId]) => accessKeyId === crash) ?? [];
  if (worker === undefined) return;
  busy.delete(worker);
  void worker.terminate();
});
