import type {
  BatchGetCommandOutput,
  QueryCommandInput,
  QueryCommandOutput,
  UpdateCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import {
  BatchGetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from './commands.ts';
import { ItemVersions } from './item-versions.ts';
import {
  type IndexEntry,
  type ItemName,
  type ItemOf,
  type indexes,
  type Key,
  type KeyFields,
  key,
  type PartitionFields,
  partition,
  type SortFields,
  sortKey,
  sortPrefix,
} from './keys.ts';
import {
  type Changes,
  type Condition,
  conditionText,
  type Item,
  isPassing,
  isRefused,
  type Outcome,
  outcomeOf,
  Placeholders,
  placeholdersOf,
  transactElement,
  updateExpression,
  type Write,
} from './write.ts';

/** Sends one command (`commands.ts`). Tests inject faults, delays and counters here. */
export type Send = (command: object) => Promise<unknown>;

type Index = (typeof indexes)[keyof typeof indexes];

/** Which items of a list are read, and how. */
export interface Range<N extends ItemName> {
  /** Only items at or above, at or below. */
  readonly from?: SortFields<N>;
  readonly to?: SortFields<N>;
  /** Only sort keys that begin so. Without it, those that begin as the given fields say. */
  readonly prefix?: string;
  /** Newest (largest) first. */
  readonly descending?: boolean;
  readonly limit?: number;
  /** Lists are consistent unless said otherwise; an index cannot be. */
  readonly eventually?: boolean;
}

/** The fields of a list: those of the partition, and the leading fields of the sort key that the items share. */
type ListFields<N extends ItemName> = PartitionFields<N> & Partial<SortFields<N>>;

/** A page of a list; `more` if there may be items after it. */
export interface Page<T> {
  readonly items: T[];
  readonly more: boolean;
}

/** A query by keys. */
interface Query {
  readonly pk: string;
  readonly prefix?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly index?: Index;
  readonly descending?: boolean;
  readonly limit?: number;
  readonly eventually?: boolean;
  readonly asStored?: boolean;
}

/** Several kinds of one partition are read together: the partition is then read whole. */
function queryOf<N extends ItemName>(
  kind: N | readonly N[],
  fields: ListFields<N>,
  { from, to, ...range }: Range<N>,
): Query {
  const [first, ...others] = [kind].flat() as [N, ...N[]];
  const prefix = range.prefix ?? (others.length > 0 ? '' : sortPrefix(first, fields));
  return {
    ...range,
    pk: partition(first, fields),
    ...(from === undefined && to === undefined
      ? { prefix }
      : {
          // An open end of a range is the end of the kind.
          from: from === undefined ? prefix || undefined : sortKey(first, from),
          to: to === undefined ? (prefix && `${prefix}\uffff`) || undefined : sortKey(first, to),
        }),
  };
}

/** Most keys that one `BatchGetItem` takes: a limit of DynamoDB. */
export const BATCH = 100;
/** Waits for the end of this tick, so that queries and updates leave together with the batch of gets. */
const endOfTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Most rounds for unprocessed keys of a batch. */
const MAX_ROUNDS = 8;

/** Has the name of DynamoDB's own error for a batch without any processed key. */
const unprocessed = (): Error =>
  Object.assign(new Error('keys of a batch were left unprocessed again and again'), {
    name: 'ProvisionedThroughputExceededException',
  });

/**
 * The one table: items by key, lists by query, transactions. Reads are consistent. Items are returned in their newest
 * version. Gets of the same tick are sent as one batch, so callers just use `Promise.all`.
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

  /** The item of this kind with these fields in its key, or the one with this key; undefined if there is none. */
  get<N extends ItemName>(kind: N, fields: KeyFields<N>): Promise<ItemOf<N> | undefined>;
  get<N extends ItemName>(key: Key<N>): Promise<ItemOf<N> | undefined>;
  get(at: ItemName | Key, fields?: object): Promise<unknown> {
    const { pk, sk } = typeof at === 'string' ? key(at, fields as never) : at;
    const id = JSON.stringify([pk, sk]);
    const same = this.#waiting.get(id);
    if (same) return same.done.promise;
    if (this.#waiting.size === 0) setImmediate(() => this.#flush());
    const done = Promise.withResolvers<Item | undefined>();
    this.#waiting.set(id, { key: { pk, sk }, done });
    return done.promise;
  }

  /** The items with these keys that exist, in no order. */
  async getMany<N extends ItemName>(keys: readonly Key<N>[]): Promise<ItemOf<N>[]> {
    const items = await Promise.all(keys.map((key) => this.get(key)));
    return items.filter((item) => item !== undefined);
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
        if (round === MAX_ROUNDS) throw unprocessed();
        if (round > 0) await new Promise((resolve) => setTimeout(resolve, 10 * 2 ** round));
        const Keys = [...left.values()].map(({ key }) => key);
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

  /** One page of a list of items of one kind: at most 1 MB or `limit` items. */
  async page<N extends ItemName>(
    kind: N | readonly N[],
    fields: ListFields<N>,
    range: Range<N> = {},
  ): Promise<Page<ItemOf<N>>> {
    const { items, last } = await this.#page<ItemOf<N>>(queryOf(kind, fields, range));
    return { items, more: last !== undefined };
  }

  /** All items of a list, page after page, up to `limit` if one is given. */
  async all<N extends ItemName>(
    kind: N | readonly N[],
    fields: ListFields<N>,
    range: Range<N> = {},
  ): Promise<ItemOf<N>[]> {
    const query = queryOf(kind, fields, range);
    const items: ItemOf<N>[] = [];
    let last: QueryCommandInput['ExclusiveStartKey'];
    do {
      const page = await this.#page<ItemOf<N>>(query, last);
      items.push(...page.items);
      last = page.last;
    } while (last !== undefined && (query.limit === undefined || items.length < query.limit));
    return query.limit === undefined ? items : items.slice(0, query.limit);
  }

  /** One page of the messages with this partition key in an index, in id order. */
  async indexPage(index: Index, pk: string, range: Range<'slot'>): Promise<Page<IndexEntry>> {
    const { items, last } = await this.#page<IndexEntry>({
      ...queryOf('slot', { realm: '' }, range),
      index,
      pk,
    });
    return { items, more: last !== undefined };
  }

  /** One page of a partition: items of all kinds, in their stored versions. */
  async storedPage(query: Pick<Query, 'pk' | 'prefix' | 'from' | 'to' | 'limit'>): Promise<Page<Item & Key>> {
    const { items, last } = await this.#page<Item & Key>({ ...query, asStored: true });
    return { items, more: last !== undefined };
  }

  async #page<T>(
    query: Query,
    start?: QueryCommandInput['ExclusiveStartKey'],
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
    await endOfTick();
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
    // Index entries are parts of items, and the same in all versions.
    const isLifted = query.index === undefined && query.asStored !== true;
    return {
      items: (isLifted ? items.map((item) => this.#versions.lifted(item)) : items) as T[],
      last: answer.LastEvaluatedKey,
    };
  }

  /** Updates one item outside a transaction, and returns it after the change. */
  async update<N extends ItemName>(key: Key<N>, change: Changes, when?: Condition): Promise<ItemOf<N>> {
    const at = new Placeholders();
    const condition = conditionText(when, at);
    await endOfTick();
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
    return this.#versions.lifted(answer.Attributes ?? {}) as ItemOf<N>;
  }

  /** Puts one item outside a transaction. Throws `ConditionalCheckFailedException` when refused. */
  async put(key: Key, item: Item, when?: Condition): Promise<void> {
    const at = new Placeholders();
    const written = this.#versions.written({ put: key, item, ...(when && { when }) });
    const condition = conditionText(written.when, at);
    await endOfTick();
    await this.#send(
      new PutCommand({
        TableName: this.#name,
        Item: { ...key, ...written.item },
        ...(condition !== undefined && { ConditionExpression: condition }),
        ...placeholdersOf(at),
      }),
    );
  }

  /** A put outside a transaction, with an outcome like that of a transaction. It takes half the units of one. */
  async putAlone(write: Extract<Write, { readonly put: Key }>): Promise<Outcome> {
    try {
      await this.put(write.put, write.item, write.when);
      return { state: 'done' };
    } catch (error) {
      if (isRefused(error)) {
        const item = (await this.get(write.put)) as Item | undefined;
        return { state: 'refused', refused: [{ index: 0, item }] };
      }
      if (isPassing(error)) return { state: 'unsure', cause: error as Error };
      throw error;
    }
  }

  /** All of the writes or none. For ten minutes, a repeated call with the same `token` does nothing more. */
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
