import {
  BatchGetCommand,
  type BatchGetCommandOutput,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
  TransactWriteCommand,
  UpdateCommand,
  type UpdateCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import {
  type Changes,
  type Condition,
  conditionText,
  Placeholders,
  placeholdersOf,
  updateExpression,
} from './condition.ts';
import { ItemVersions } from './item-versions.ts';
import type { indexes, Key } from './keys.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { type Item, transactElement, type Write } from './write.ts';

/** Sends one command of the document client. Tests put faults, delays and counters in its place. */
export type Send = (command: object) => Promise<unknown>;

export interface Query {
  readonly pk: string;
  /** Only sort keys that begin so. */
  readonly prefix?: string;
  /** Only sort keys at or above, at or below. */
  readonly from?: string;
  readonly to?: string;
  readonly index?: (typeof indexes)[keyof typeof indexes];
  /** Newest (largest) first. */
  readonly descending?: boolean;
  readonly limit?: number;
  /** Base-table queries are consistent unless said otherwise; an index cannot be. */
  readonly eventually?: boolean;
  /** Items in the versions that they have. */
  readonly asStored?: boolean;
}

/** Most keys that one `BatchGetItem` takes: a limit of DynamoDB. */
export const BATCH = 100;
/** The end of this moment: what is asked for in it leaves together then, the batch of gets among it. */
const moment = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Rounds for keys that a batch left unprocessed, before it is a fault. */
const ROUNDS = 8;

/** The fault, under the name that DynamoDB gives it where not one of the keys was processed. */
const unprocessed = (): Error =>
  Object.assign(new Error('keys of a batch were left unprocessed again and again'), {
    name: 'ProvisionedThroughputExceededException',
  });

/**
 * The one table, as the domain sees it: items by key, lists by query, one transaction. Reads are consistent. Items come
 * in their newest version, whichever they are stored in.
 * Gets that are asked for in the same moment travel as one batch, so callers just use `Promise.all`.
 */
export class Table {
  readonly #name: string;
  readonly #send: Send;
  readonly #versions: ItemVersions;
  #waiting = new Map<string, { key: Key; done: PromiseWithResolvers<Item | undefined> }>();

  constructor(name: string, send: Send, versions = new ItemVersions([])) {
    this.#name = name;
    this.#send = send;
    this.#versions = versions;
  }

  /** The item with this key, or undefined. A consistent read. */
  get<T = Item>(key: Key): Promise<T | undefined> {
    const id = JSON.stringify([key.pk, key.sk]);
    const same = this.#waiting.get(id);
    if (same) return same.done.promise as Promise<T | undefined>;
    if (this.#waiting.size === 0) setImmediate(() => this.#flush());
    const done = Promise.withResolvers<Item | undefined>();
    this.#waiting.set(id, { key, done });
    return done.promise as Promise<T | undefined>;
  }

  /** The items with these keys that exist, in no order. */
  async getMany<T = Item>(keys: readonly Key[]): Promise<T[]> {
    const items = await Promise.all(keys.map((key) => this.get<T>(key)));
    return items.filter((item) => item !== undefined) as T[];
  }

  #flush(): void {
    const all = [...this.#waiting.entries()];
    this.#waiting = new Map();
    for (let start = 0; start < all.length; start += BATCH)
      void this.#batch(new Map(all.slice(start, start + BATCH)));
  }

  async #batch(
    wanted: Map<string, { key: Key; done: PromiseWithResolvers<Item | undefined> }>,
  ): Promise<void> {
    try {
      const left = new Map(wanted);
      for (let round = 0; left.size > 0; round++) {
        if (round === ROUNDS) throw unprocessed();
        if (round > 0) await new Promise((resolve) => setTimeout(resolve, 10 * 2 ** round));
        const Keys = [...left.values()].map(({ key }) => ({ pk: key.pk, sk: key.sk }));
        const answer = (await this.#send(
          new BatchGetCommand({ RequestItems: { [this.#name]: { Keys, ConsistentRead: true } } }),
        )) as BatchGetCommandOutput;
        const again = new Set(
          (answer.UnprocessedKeys?.[this.#name]?.Keys ?? []).map((key) => JSON.stringify([key.pk, key.sk])),
        );
        for (const item of answer.Responses?.[this.#name] ?? []) {
          const id = JSON.stringify([item.pk, item.sk]);
          left.get(id)?.done.resolve(this.#versions.lifted(item));
          left.delete(id);
        }
        for (const [id, { done }] of left) {
          if (again.has(id)) continue;
          done.resolve(undefined);
          left.delete(id);
        }
      }
    } catch (error) {
      for (const { done } of wanted.values()) done.reject(error);
    }
  }

  /** One page of a query: at most 1 MB or `limit` items; `more` tells that there may be others behind it. */
  async page<T = Item>(query: Query): Promise<{ readonly items: T[]; readonly more: boolean }> {
    const { items, last } = await this.#page<T>(query, undefined);
    return { items, more: last !== undefined };
  }

  /** All items of a query, page after page, up to `limit` if one is given. */
  async all<T = Item>(query: Query): Promise<T[]> {
    const items: T[] = [];
    let last: QueryCommandInput['ExclusiveStartKey'];
    do {
      const page = await this.#page<T>(query, last);
      items.push(...page.items);
      last = page.last;
    } while (last !== undefined && (query.limit === undefined || items.length < query.limit));
    return query.limit === undefined ? items : items.slice(0, query.limit);
  }

  async #page<T>(
    query: Query,
    start: QueryCommandInput['ExclusiveStartKey'],
  ): Promise<{ items: T[]; last: typeof start }> {
    const at = new Placeholders();
    const pk = at.name(query.index?.pk ?? 'pk');
    const sk = query.index?.sk ?? 'sk';
    const parts = [`${pk} = ${at.value(query.pk)}`];
    if (query.prefix !== undefined && query.prefix !== '') {
      parts.push(`begins_with(${at.name(sk)}, ${at.value(query.prefix)})`);
    } else if (query.from !== undefined && query.to !== undefined) {
      if (query.from > query.to) return { items: [], last: undefined };
      parts.push(`${at.name(sk)} BETWEEN ${at.value(query.from)} AND ${at.value(query.to)}`);
    } else if (query.from !== undefined) parts.push(`${at.name(sk)} >= ${at.value(query.from)}`);
    else if (query.to !== undefined) parts.push(`${at.name(sk)} <= ${at.value(query.to)}`);
    await moment();
    const answer = (await this.#send(
      new QueryCommand({
        TableName: this.#name,
        ...(query.index && { IndexName: query.index.name }),
        KeyConditionExpression: parts.join(' AND '),
        ...placeholdersOf(at),
        ...(query.limit !== undefined && { Limit: query.limit }),
        ScanIndexForward: query.descending !== true,
        ConsistentRead: query.index === undefined && query.eventually !== true,
        ...(start && { ExclusiveStartKey: start }),
      }),
    )) as QueryCommandOutput;
    const items = answer.Items ?? [];
    // What an index carries of an item is no whole one, and the same in all versions.
    const isLifted = query.index === undefined && query.asStored !== true;
    return {
      items: (isLifted ? items.map((item) => this.#versions.lifted(item)) : items) as T[],
      last: answer.LastEvaluatedKey,
    };
  }

  /** Changes one item at once, outside a transaction, and tells its attributes after the change. */
  async update(key: Key, change: Changes, when?: Condition): Promise<Item> {
    const at = new Placeholders();
    const condition = conditionText(when, at);
    await moment();
    const answer = (await this.#send(
      new UpdateCommand({
        TableName: this.#name,
        Key: { pk: key.pk, sk: key.sk },
        UpdateExpression: updateExpression(change, at),
        ...(condition !== undefined && { ConditionExpression: condition }),
        ...placeholdersOf(at),
        ReturnValues: 'ALL_NEW',
      }),
    )) as UpdateCommandOutput;
    return this.#versions.lifted(answer.Attributes ?? {});
  }

  /** Puts one item outside a transaction. Throws `ConditionalCheckFailedException` when refused. */
  async put(key: Key, item: Item, when?: Condition): Promise<void> {
    const at = new Placeholders();
    const written = this.#versions.written({ put: key, item, ...(when && { when }) });
    const condition = conditionText(written.when, at);
    await moment();
    await this.#send(
      new PutCommand({
        TableName: this.#name,
        Item: { ...key, ...written.item },
        ...(condition !== undefined && { ConditionExpression: condition }),
        ...placeholdersOf(at),
      }),
    );
  }

  /**
   * All of the writes or none. `token` makes a repetition of the same transaction harmless for ten minutes, so
   * after `unsure` the same call is simply made again.
   */
  async transact(writes: readonly Write[], token: string): Promise<Outcome> {
    try {
      await this.#send(
        new TransactWriteCommand({
          TransactItems: writes.map((write) => transactElement(this.#name, this.#versions.written(write))),
          ClientRequestToken: token,
        }),
      );
      return { state: 'done' };
    } catch (error) {
      const outcome = outcomeOf(error);
      if (outcome === undefined) throw error;
      if (outcome.state !== 'refused') return outcome;
      const lifted = outcome.refused.map(({ index, item }) => ({
        index,
        item: item && this.#versions.lifted(item),
      }));
      return { state: 'refused', refused: lifted };
    }
  }
}
