import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type {
  FunctionError,
  Invocation,
  InvocationResult,
  ThreadMessage,
  ThreadSetup,
} from './invocation.ts';
import type { LambdaFunction } from './template.ts';

/** Seconds that Lambda gives a function to load. */
const loadingLimit = 10;

// Stripped once here rather than by each thread: it would cost every one of them 20 ms and 6 MB.
const threadCode = stripTypeScriptTypes(
  readFileSync(join(import.meta.dirname, 'function-thread.ts'), 'utf8'),
);

/**
 * One running copy of a function: a thread with an environment of its own that handles one event at a time and
 * stays warm between them. After an error that its code did not catch, or a time-out, it is gone.
 */
export class Sandbox {
  readonly #lambda: LambdaFunction;
  readonly #worker: Worker;
  #hear: (message: ThreadMessage) => void = () => {};
  #gone = false;

  /** @param onOutput Takes what the function writes to its standard output and standard error. */
  constructor(
    lambda: LambdaFunction,
    environment: Readonly<Record<string, string>>,
    onOutput: (text: Uint8Array) => void,
  ) {
    this.#lambda = lambda;
    const [file = '', handler = ''] = lambda.handler.split('.');
    const setup: ThreadSetup = {
      module: pathToFileURL(join(lambda.directory, `${file}.mjs`)).href,
      handler,
      functionName: lambda.name,
      functionArn: lambda.arn,
      memoryMb: lambda.memoryMb,
      logGroup: environment.AWS_LAMBDA_LOG_GROUP_NAME ?? '',
      logStream: environment.AWS_LAMBDA_LOG_STREAM_NAME ?? '',
    };
    this.#worker = new Worker(threadCode, {
      eval: true,
      execArgv: ['--input-type=module'],
      argv: [],
      env: environment,
      workerData: setup,
      name: lambda.name,
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: lambda.memoryMb },
    });
    for (const output of [this.#worker.stdout, this.#worker.stderr]) output.on('data', onOutput);
    this.#worker.on('message', (message: ThreadMessage) => this.#hear(message));
    this.#worker.on('error', (error) => this.#end(asFault(error)));
    this.#worker.on('exit', (code) =>
      this.#end(fault('Runtime.ExitError', `The function exited with code ${code}.`)),
    );
  }

  /** The thread has ended, or is about to, and takes no more events. */
  get gone(): boolean {
    return this.#gone;
  }

  /** Resolves when the function is loaded, or with the error that it met. */
  async load(): Promise<FunctionError | undefined> {
    const message = await this.#next(
      loadingLimit,
      `The function did not load within ${loadingLimit} seconds.`,
    );
    if (message.kind !== 'failure') return undefined;
    this.terminate();
    return message.error;
  }

  /** Hands over an event and waits for what comes of it, at most as long as the function's time limit. */
  async run(invocation: Omit<Invocation, 'deadline'>): Promise<InvocationResult> {
    const { timeoutSeconds } = this.#lambda;
    const next = this.#next(timeoutSeconds, `Task timed out after ${timeoutSeconds.toFixed(2)} seconds`);
    const deadline = Date.now() + timeoutSeconds * 1000;
    this.#worker.postMessage({ ...invocation, deadline } satisfies Invocation);
    const message = await next;
    if (message.kind === 'failure') return { outcome: 'failure', error: message.error };
    return { outcome: 'success', payload: message.kind === 'success' ? message.payload : 'null' };
  }

  /** Stops the thread at once, whatever it is doing. */
  terminate(): void {
    this.#end(fault('Runtime.ExitError', 'The function was stopped.'));
    void this.#worker.terminate();
  }

  #next(seconds: number, complaint: string): Promise<ThreadMessage> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#end(fault('Sandbox.Timedout', complaint));
        void this.#worker.terminate();
      }, seconds * 1000);
      this.#hear = (message) => {
        clearTimeout(timer);
        this.#hear = () => {};
        resolve(message);
      };
    });
  }

  #end(error: FunctionError): void {
    this.#gone = true;
    this.#hear({ kind: 'failure', error });
  }
}

const fault = (errorType: string, errorMessage: string, trace: readonly string[] = []): FunctionError => ({
  errorType,
  errorMessage,
  trace,
});

/** What the thread did not catch; it may have thrown anything. */
const asFault = (thrown: unknown): FunctionError =>
  thrown instanceof Error
    ? fault(thrown.name, thrown.message, thrown.stack?.split('\n'))
    : fault('Runtime.UncaughtException', String(thrown));
