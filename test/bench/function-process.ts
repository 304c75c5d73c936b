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
  readonly #ready: Promise<unknown>;

  /**
   * @param directory that of the bundle, which the first call loads
   * @param options of Node
   */
  constructor(directory: string, env: Readonly<Record<string, string>>, options: readonly string[] = []) {
    this.#process = fork(join(import.meta.dirname, 'function-process.mjs'), [directory], {
      env,
      execArgv: [...options],
    });
    this.#ended = once(this.#process, 'exit');
    this.#ready = this.#answer();
    // Who asks nothing of it need not know that it ended.
    this.#ready.catch(() => {});
  }

  /** The id of the process, once Node has started in it. */
  async started(): Promise<number> {
    await this.#ready;
    return this.#process.pid as number;
  }

  /**
   * Runs it once. Throws if the process ends.
   *
   * @param seconds that it may take
   * @param passed milliseconds by which its clock is ahead
   */
  async run<R>(event: object, seconds: number, passed = 0): Promise<Ran<R>> {
    await this.#ready;
    const answer = this.#answer();
    this.#process.send({ event, seconds, passed });
    return (await answer) as Ran<R>;
  }

  async #answer(): Promise<unknown> {
    const died = this.#ended.then((how) => {
      throw new Error(`The process of a function ended with ${String(how)}.`);
    });
    // It ends in the end too, when nobody asks any more.
    died.catch(() => {});
    const [answer] = await Promise.race([once(this.#process, 'message'), died]);
    return answer;
  }

  async stop(): Promise<void> {
    this.#process.kill();
    await this.#ended;
  }
}
