import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { type DynamoStore, startDynamoStore } from '../../infra/local/dynamo-store.ts';
import { freePort } from '../../infra/local/loopback.ts';
import { type Fault, FaultyDoor } from './faulty-door.ts';
import type { Random } from './random-choice.ts';

/** How long (ms) the service may take to be ready on a busy machine. */
const patience = 180_000;

const entry = join(import.meta.dirname, '../../infra/local/start.ts');
const crasher = join(import.meta.dirname, 'thread-crasher.ts');

/** How the service, or the store behind it, comes to its end. */
export type Ending = 'service killed' | 'service stopped' | 'store killed' | 'power cut';

const serviceEndings: readonly Ending[] = ['service killed', 'service killed', 'service stopped'];
const storeEndings: readonly Ending[] = ['store killed', 'power cut'];

/**
 * The whole service as `npm start` runs it, in a process of its own, with a faulty door before its DynamoDB, so that
 * all of it can be killed at any moment and goes on where it was: same port, same data.
 */
export class SoakService {
  /** How it can be ended, the more frequent the more often. */
  readonly endings: readonly Ending[];
  readonly #folder: string;
  readonly #door: FaultyDoor;
  #store: DynamoStore;
  #child: ChildProcess | undefined;
  #port = 0;
  #doorAddress = '';
  readonly #onDeath: (words: string) => void;

  private constructor(
    folder: string,
    store: DynamoStore,
    endings: readonly Ending[],
    random: Random,
    onFault: (fault: Fault) => void,
    onDeath: (words: string) => void,
  ) {
    this.endings = endings;
    this.#folder = folder;
    this.#store = store;
    this.#onDeath = onDeath;
    const crash = (accessKeyId: string) => {
      if (this.#child?.connected) this.#child.send({ crash: accessKeyId });
    };
    this.#door = new FaultyDoor(store.endpoint, { random, crash, onFault });
  }

  /**
   * Starts it in a folder and waits until it is ready.
   *
   * @param given An empty store that runs already; without it, one is started, and may be killed.
   * @param onFault Told of each fault of the door.
   * @param onDeath Told when the service ends by itself, which it never should.
   */
  static async start(
    folder: string,
    given: URL | undefined,
    random: Random,
    onFault: (fault: Fault) => void,
    onDeath: (words: string) => void,
  ): Promise<SoakService> {
    const store = await startDynamoStore(fileOf(folder), given);
    const endings = given === undefined ? [...serviceEndings, ...storeEndings] : serviceEndings;
    const service = new SoakService(folder, store, endings, random, onFault, onDeath);
    service.#port = await freePort();
    service.#doorAddress = (await service.#door.listen()).origin;
    await service.#start();
    return service;
  }

  /** Where clients find it. */
  get address(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Where the store answers, past the door. */
  get store(): URL {
    return this.#store.endpoint;
  }

  /** Starts or ends the faults between the functions and the store. */
  set isCalm(calm: boolean) {
    this.#door.isCalm = calm;
  }

  /** Ends the service, the store or both, and starts again what has ended. */
  async restart(ending: Ending): Promise<void> {
    const ended: Promise<void>[] = [];
    if (ending === 'store killed' || ending === 'power cut') ended.push(this.#store.kill());
    if (ending !== 'store killed')
      ended.push(this.#end(ending === 'service stopped' ? 'SIGTERM' : 'SIGKILL'));
    await Promise.all(ended);
    if (ending === 'store killed' || ending === 'power cut') {
      this.#store = await startDynamoStore(fileOf(this.#folder), undefined);
      this.#door.store = this.#store.endpoint;
    }
    if (ending !== 'store killed') await this.#start();
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
    this.#door.close();
    await this.#store.stop();
  }

  async #start(): Promise<void> {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--import', crasher, entry],
      {
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
        env: {
          ...process.env,
          DATA_DIR: this.#folder,
          PORT: String(this.#port),
          SMTP_PORT: '0',
          API_RATE_LIMIT: '0',
          DYNAMODB_ENDPOINT: this.#doorAddress,
        },
      },
    );
    this.#child = child;
    // Sending to a process that was just killed fails, which is what was wanted.
    child.on('error', () => {});
    const log = createWriteStream(join(this.#folder, 'service.log'), { flags: 'a' });
    let output = '';
    const ready = Promise.withResolvers<void>();
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        log.write(chunk);
        output = `${output}${chunk}`.slice(-4_000);
        if (/\bready at http/.test(output)) ready.resolve();
      });
    }
    child.on('exit', () => {
      ready.reject(new Error(`the service has ended:\n${output}`));
      if (this.#child === child) this.#onDeath(output);
    });
    const timer = setTimeout(() => ready.reject(new Error(`the service is not ready:\n${output}`)), patience);
    await ready.promise.finally(() => clearTimeout(timer));
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}

const fileOf = (folder: string): string => join(folder, 'dynamodb.sqlite');
