import { randomUUID } from 'node:crypto';
import type { FunctionError, InvocationResult } from './invocation.ts';
import { newTraceId } from './proxy-event.ts';
import { Sandbox } from './sandbox.ts';
import type { LambdaFunction } from './template.ts';

export interface FunctionPoolOptions {
  readonly environmentOf: (lambda: LambdaFunction) => Readonly<Record<string, string>>;
  /** Takes what a function writes to its standard output and standard error. */
  readonly onOutput: (lambda: LambdaFunction, text: Uint8Array) => void;
  /** Told of every invocation that failed. */
  readonly onFailure: (lambda: LambdaFunction, error: FunctionError) => void;
  /** How many functions may run at once, all together. */
  readonly concurrency: number;
  /**
   * How many may be loading at once, since loading keeps a processor busy; and how many copies a function gets at once,
   * since more of them only take turns.
   */
  readonly startsAtOnce: number;
  /** Milliseconds in which no copy of a function ends what it does, after which events that wait get further ones. */
  readonly busyMs: number;
  /** Milliseconds after which an idle sandbox is stopped. */
  readonly idleMs: number;
  /** How many sandboxes may be idle, all together; above that, the one that was idle longest is given up. */
  readonly idleAtMost: number;
}

interface Waiting {
  readonly event: string;
  readonly since: number;
  readonly settle: (result: InvocationResult) => void;
}

/** The copies of one function: warm ones, the last used on top, and events that wait for one. */
interface Fleet {
  readonly lambda: LambdaFunction;
  readonly idle: { readonly sandbox: Sandbox; readonly since: number }[];
  readonly waiting: Waiting[];
  readonly running: Set<Sandbox>;
  starting: number;
  /** When a copy last ended what it did, or the first one was loaded. */
  ended: number;
}

/**
 * Runs functions as Lambda does: an event gets a warm copy of its function, or a new one, to itself.
 *
 * A laptop cannot run as many at the same moment as AWS, so events wait a little for the existing copies:
 * the first free copy takes the first event in line. A function gets further copies only while all that it has do something
 * slow, and more events wait than copies are already loading. So short requests are served by few copies, whose code is
 * compiled soon, while each long one ends up with its own.
 */
export class FunctionPool {
  readonly #options: FunctionPoolOptions;
  readonly #byName: ReadonlyMap<string, Fleet>;
  readonly #fleets: readonly Fleet[];
  readonly #sweeper: NodeJS.Timeout;
  #closed = false;

  constructor(functions: readonly LambdaFunction[], options: FunctionPoolOptions) {
    this.#options = options;
    this.#fleets = functions.map((lambda) => ({
      lambda,
      idle: [],
      waiting: [],
      running: new Set(),
      starting: 0,
      ended: 0,
    }));
    this.#byName = new Map(this.#fleets.map((fleet) => [fleet.lambda.name, fleet]));
    this.#sweeper = setInterval(() => this.#giveUpIdle(), options.idleMs / 4).unref();
  }

  /**
   * Hands an event (JSON) to a function.
   *
   * @param signal Aborted when the caller no longer waits; an event that still waits is dropped then, while
   *   one that is being handled continues, as on Lambda.
   */
  invoke(functionName: string, event: string, signal?: AbortSignal): Promise<InvocationResult> {
    const fleet = this.#byName.get(functionName);
    if (!fleet) throw new Error(`There is no function named ${functionName}.`);
    const inUse = fleet.running.size + fleet.waiting.length;
    if (this.#closed || inUse >= (fleet.lambda.reservedConcurrency ?? Number.POSITIVE_INFINITY)) {
      return Promise.resolve({ outcome: 'throttled' });
    }
    return new Promise((settle) => {
      const waiting: Waiting = { event, since: Date.now(), settle };
      fleet.waiting.push(waiting);
      this.#serve(fleet);
      if (!fleet.waiting.includes(waiting)) return;
      signal?.addEventListener('abort', () => {
        const place = fleet.waiting.indexOf(waiting);
        if (place < 0) return;
        fleet.waiting.splice(place, 1);
        settle({ outcome: 'throttled' });
      });
      this.#lookAgain(fleet, waiting);
    });
  }

  /** How many copies of a function there are. */
  copies(functionName: string): number {
    const fleet = this.#byName.get(functionName);
    return fleet ? sizeOf(fleet) : 0;
  }

  /** Takes no more events, gives those that are being handled some milliseconds to end, then stops every copy. */
  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweeper);
    const fleets = this.#fleets;
    for (const { waiting } of fleets) {
      for (const { settle } of waiting.splice(0)) settle({ outcome: 'throttled' });
    }
    const end = Date.now() + graceMs;
    while (Date.now() < end && fleets.some(({ running, starting }) => running.size + starting > 0)) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    for (const { idle, running } of fleets) {
      for (const { sandbox } of idle) sandbox.terminate();
      for (const sandbox of running) sandbox.terminate();
    }
  }

  #serve(fleet: Fleet): void {
    for (let warm = fleet.idle.pop(); warm; warm = fleet.idle.pop()) {
      if (warm.sandbox.gone) continue;
      const next = fleet.waiting.shift();
      if (!next) {
        fleet.idle.push(warm);
        return;
      }
      void this.#run(fleet, warm.sandbox, next);
    }
    this.#startWhereNeeded();
  }

  #startWhereNeeded(): void {
    const eager = this.#fleets.filter(({ waiting }) => waiting.length > 0);
    if (eager.length === 0) return;
    let starting = this.#fleets.reduce((sum, fleet) => sum + fleet.starting, 0);
    for (const fleet of eager) {
      while (
        this.#needed(fleet) > fleet.starting &&
        starting < this.#options.startsAtOnce &&
        this.#makeRoom()
      ) {
        starting += 1;
        void this.#start(fleet);
      }
    }
  }

  /** As long as an event waits, looks now and then whether a further copy would help it. */
  #lookAgain(fleet: Fleet, waiting: Waiting): void {
    if (!fleet.waiting.includes(waiting)) return;
    const look = (): void => {
      this.#startWhereNeeded();
      this.#lookAgain(fleet, waiting);
    };
    setTimeout(look, this.#options.busyMs).unref();
  }

  /** How many copies would help the events that wait. */
  #needed(fleet: Fleet): number {
    const { startsAtOnce, busyMs } = this.#options;
    if (sizeOf(fleet) < startsAtOnce) return fleet.waiting.length;
    const limit = Date.now() - busyMs;
    return fleet.ended > limit ? 0 : fleet.waiting.filter(({ since }) => since <= limit).length;
  }

  /** Whether one more copy may be made, if need be by giving up the one that has been idle the longest. */
  #makeRoom(): boolean {
    if (this.#fleets.reduce((sum, fleet) => sum + sizeOf(fleet), 0) < this.#options.concurrency) return true;
    return this.#giveUpStalest();
  }

  /** Gives up the copy that has been idle the longest, if any is. */
  #giveUpStalest(): boolean {
    const resting = this.#fleets.filter(({ idle }) => idle.length > 0);
    const stalest = resting
      .toSorted((a, b) => (a.idle[0]?.since ?? 0) - (b.idle[0]?.since ?? 0))[0]
      ?.idle.shift();
    stalest?.sandbox.terminate();
    return stalest !== undefined;
  }

  async #start(fleet: Fleet): Promise<void> {
    const { lambda } = fleet;
    fleet.starting += 1;
    const { environmentOf, onOutput } = this.#options;
    const sandbox = new Sandbox(lambda, environmentOf(lambda), (text) => onOutput(lambda, text));
    const error = await sandbox.load();
    fleet.starting -= 1;
    if (error) {
      this.#options.onFailure(lambda, error);
      fleet.waiting.shift()?.settle({ outcome: 'failure', error });
    } else {
      // Until there was a copy, none was slow.
      if (fleet.running.size === 0) fleet.ended = Date.now();
      this.#rest(fleet, sandbox);
    }
    this.#startWhereNeeded();
  }

  async #run(fleet: Fleet, sandbox: Sandbox, { event, settle }: Waiting): Promise<void> {
    fleet.running.add(sandbox);
    const result = await sandbox.run({
      requestId: randomUUID(),
      traceId: `${newTraceId()};Sampled=0`,
      event,
    });
    fleet.running.delete(sandbox);
    fleet.ended = Date.now();
    // What is stopped together with the pool has not failed.
    if (result.outcome === 'failure' && !this.#closed) this.#options.onFailure(fleet.lambda, result.error);
    settle(result);
    this.#rest(fleet, sandbox);
  }

  /** Puts a copy that has nothing to do on top of the warm ones, from where the next event takes it. */
  #rest(fleet: Fleet, sandbox: Sandbox): void {
    if (this.#closed) sandbox.terminate();
    else if (!sandbox.gone) fleet.idle.push({ sandbox, since: Date.now() });
    this.#serve(fleet);
    const idle = this.#fleets.reduce((sum, fleet) => sum + fleet.idle.length, 0);
    if (idle > this.#options.idleAtMost) this.#giveUpStalest();
  }

  #giveUpIdle(): void {
    const limit = Date.now() - this.#options.idleMs;
    for (const { idle } of this.#fleets) {
      const stale = idle.filter(({ since }) => since < limit);
      for (const { sandbox } of idle.splice(0, stale.length)) sandbox.terminate();
    }
  }
}

const sizeOf = ({ idle, running, starting }: Fleet): number => idle.length + running.size + starting;
