import type { BatchGetCommandOutput, QueryCommandOutput } from '@aws-sdk/lib-dynamodb';
import type { Outside } from '../../shared/kernel/outside.ts';
import {
  BatchGetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '../../shared/table/commands.ts';
import type { Send } from '../../shared/table/table.ts';
import { conflict, fault } from '../support/faults.ts';
import { randomFrom } from '../support/random.ts';
import { TABLE } from '../support/store.ts';

type Item = Record<string, unknown> & { readonly pk: string; readonly sk: string };
type Key = Pick<Item, 'pk' | 'sk'>;

/** How often (0 to 1) something happens to a request, and how long (ms of the world's time) things take at most. */
export interface Weather {
  /** The request never arrives. */
  readonly lost: number;
  /** It arrives, but its reply does not. */
  readonly unheard: number;
  /** It arrives after its sender has given up waiting for it. */
  readonly late: number;
  /** The store is too busy for it. */
  readonly throttled: number;
  /** Another transaction is at one of its items. */
  readonly conflict: number;
  /** Longest that it is under way beyond what the store takes. */
  readonly slow: number;
  /** How often a transaction is slow, and how long it takes then at most: a client of DynamoDB waits 2 s for it. */
  readonly sluggish: { readonly often: number; readonly longest: number };
  /** Longest that a part of a committed transaction stays unseen while another part can be seen. */
  readonly partial: number;
}

/** An item as it was before a transaction that is not completely visible yet. */
interface Veil {
  readonly before: Item | undefined;
  /** Until when, in the world's time; not known while the transaction is under way. */
  until: number;
}

/**
 * Injects faults between the functions and the real store: requests and replies get lost, come late or are refused, and
 * transactions become visible item by item, which DynamoDB permits for queries and batches. Items of a transaction that
 * are not visible yet cannot be written either. Time runs faster than outside.
 */
export class World {
  readonly #random: () => number;
  readonly #weather: Weather;
  readonly #speed: number;
  readonly #veils = new Map<string, Veil>();
  readonly #born = Date.now();
  /** One transaction after the other, so that what was there before it is known for sure. */
  #queue: Promise<unknown> = Promise.resolve();
  #isCalm = false;

  constructor(seed: number, weather: Weather, speed = 20) {
    this.#random = randomFrom(seed);
    this.#weather = weather;
    this.#speed = speed;
  }

  /** Milliseconds since 1970, faster. */
  now = (): number => this.#born + (performance.now() + performance.timeOrigin - this.#born) * this.#speed;

  wait = (ms: number): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve, Math.max(0, ms) / this.#speed));

  get clock(): Pick<Outside, 'now' | 'wait'> {
    return { now: () => Math.floor(this.now()), wait: this.wait };
  }

  random = (): number => this.#random();

  /** Ends the faults: from now on everything arrives. */
  calm(): void {
    this.#isCalm = true;
  }

  /** The connection of one function to the store. */
  around = (send: Send): Send => {
    return async (command) => {
      if (this.#isCalm) return this.#seen(command, await this.#carried(command, send));
      await this.wait(this.#random() * this.#weather.slow);
      const dice = this.#random();
      const isWrite = !(command instanceof BatchGetCommand || command instanceof QueryCommand);
      const { lost, unheard, late, throttled, conflict: clash } = this.#weather;
      let level = lost;
      if (dice < level) throw fault('TimeoutError');
      level += throttled;
      if (dice < level) throw fault('ThrottlingException');
      level += clash;
      if (dice < level && isWrite && !(command instanceof UpdateCommand)) throw this.#clash(command);
      level += unheard;
      if (dice < level) {
        await this.#carried(command, send).catch(() => {});
        throw fault('TimeoutError');
      }
      level += late;
      if (dice < level) {
        void this.wait(this.#random() * 4 * this.#weather.slow)
          .then(() => this.#carried(command, send))
          .catch(() => {});
        throw fault('TimeoutError');
      }
      const { often, longest } = this.#weather.sluggish;
      if (command instanceof TransactWriteCommand && this.#random() < often) {
        await this.wait(this.#random() * longest);
      }
      const answer = await this.#carried(command, send);
      await this.wait(this.#random() * this.#weather.slow * 0.5);
      return this.#seen(command, answer);
    };
  };

  #clash(command: object): Error {
    return command instanceof TransactWriteCommand ? conflict() : fault('TransactionConflictException');
  }

  /** The request at the store: it meets items of transactions that are under way, and may be one itself. */
  #carried(command: object, send: Send): Promise<unknown> {
    if (command instanceof TransactWriteCommand) {
      const done = this.#queue.then(() => this.#transact(command, send));
      this.#queue = done.catch(() => {});
      return done;
    }
    if (command instanceof PutCommand || command instanceof UpdateCommand) {
      const key = (command instanceof PutCommand ? command.input.Item : command.input.Key) as Key | undefined;
      if (key && this.#veil(key)) return Promise.reject(fault('TransactionConflictException'));
    }
    return send(command);
  }

  async #transact(command: TransactWriteCommand, send: Send): Promise<unknown> {
    const elements = command.input.TransactItems ?? [];
    const written = elements.flatMap(
      ({ Put, Update, Delete }) => (Put?.Item ?? Update?.Key ?? Delete?.Key ?? []) as Key,
    );
    const checked = elements.flatMap(({ ConditionCheck }) => (ConditionCheck?.Key ?? []) as Key);
    if ([...written, ...checked].some((key) => this.#veil(key))) throw conflict();
    const answer = (await send(
      new BatchGetCommand({
        RequestItems: { [TABLE]: { Keys: written.map(({ pk, sk }) => ({ pk, sk })), ConsistentRead: true } },
      }),
    )) as BatchGetCommandOutput;
    const before = new Map(
      (answer.Responses?.[TABLE] ?? []).map((item) => [idOf(item as Item), item as Item]),
    );
    const veils = written.map((key) => {
      const veil: Veil = { before: before.get(idOf(key)), until: Number.POSITIVE_INFINITY };
      this.#veils.set(idOf(key), veil);
      return veil;
    });
    try {
      const result = await send(command);
      this.#unveil(veils);
      return result;
    } catch (error) {
      for (const veil of veils) veil.until = 0;
      throw error;
    }
  }

  /** Lets the parts of a committed transaction be seen: each at its time, or the first at once and the others last. */
  #unveil(veils: readonly Veil[]): void {
    const now = this.now();
    const longest = this.#isCalm ? 0 : this.#weather.partial;
    const isWorst = this.#random() < 0.5;
    veils.forEach((veil, i) => {
      veil.until = now + longest * (isWorst ? Number(i > 0) : this.#random());
    });
  }

  #veil({ pk, sk }: Key): Veil | undefined {
    const id = idOf({ pk, sk });
    const veil = this.#veils.get(id);
    if (veil !== undefined && veil.until <= this.now()) {
      this.#veils.delete(id);
      return undefined;
    }
    return veil;
  }

  /** An answer as it looks through the veils. */
  #seen(command: object, answer: unknown): unknown {
    if (command instanceof BatchGetCommand) {
      const output = answer as BatchGetCommandOutput;
      const keys = (command.input.RequestItems?.[TABLE]?.Keys ?? []) as Key[];
      const items = this.#through(keys, (output.Responses?.[TABLE] ?? []) as Item[]);
      return { ...output, Responses: { [TABLE]: items } };
    }
    if (command instanceof QueryCommand && command.input.IndexName === undefined) {
      const output = answer as QueryCommandOutput;
      if (command.input.ConsistentRead === false && this.#random() < this.#weather.lost) {
        return { ...output, Items: [] };
      }
      const items = (output.Items ?? []) as Item[];
      return { ...output, Items: this.#through(items, items) };
    }
    return answer;
  }

  #through(keys: readonly Key[], items: readonly Item[]): Item[] {
    const byId = new Map(items.map((item) => [idOf(item), item]));
    return keys.flatMap((key) => {
      const veil = this.#veil(key);
      return (veil ? veil.before : byId.get(idOf(key))) ?? [];
    });
  }
}

const idOf = ({ pk, sk }: Key): string => JSON.stringify([pk, sk]);
