import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What a function replied. */
export interface Ran<R> {
  readonly reply: R;
  /** How long it took, ms; at the first time with loading its code. */
  readonly ms: number;
  /** Processor time of its own code, ms, without loading it. */
  readonly cpuMs: number;
  /** The most memory (MB) that its process ever had. */
  readonly peakMb: number;
}

/** The bundle of a function in a process of its own, so that its memory and its caches are only its own. */
export class FunctionProcess {
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  /**
   * @param directory that of the bundle
   * @param heapMb megabytes of heap, if it may not have any number of them
   */
  constructor(directory: string, env: Readonly<Record<string, string>>, heapMb?: number) {
    this.#process = fork(join(import.meta.dirname, 'function-process.mjs'), [directory], {
      env,
      execArgv: heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`],
    });
    this.#ended = once(this.#process, 'exit');
  }

  /** Runs it once. Throws if the process ends. */
  async run<R>(event: object, seconds: number): Promise<Ran<R>> {
    const replied = once(this.#process, 'message');
    const died = this.#ended.then((how) => {
      throw new Error(`The process of a function ended with ${String(how)}.`);
    });
    // It ends in the end too, when nobody asks any more.
    died.catch(() => {});
    this.#process.send({ event, seconds });
    const [ran] = (await Promise.race([replied, died])) as [Ran<R>];
    return ran;
  }

  async stop(): Promise<void> {
    this.#process.kill();
    await this.#ended;
  }
}
