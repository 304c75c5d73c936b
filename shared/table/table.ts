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
import {
  type IndexEntry,
  type ItemName,
  type ItemOf,
  idOf,
  type Key,
  type KeyFields,
  key,
  type PartitionFields,
  partition,
} from './keys.ts';
import { isPassing, isRefused, type Outcome, outcomeOf } from './outcome.ts';
import {
  type Index,
  JointLists,
  type ListFields,
  type Page,
  type Query,
  queryOf,
  type Range,
  type Span,
} from './query.ts';
import type { ListVersion, RememberedKind } from './remembered-lists.ts';
import { ItemVersions } from './stored-item.ts';
import {
  type Changes,
  type Condition,
  conditionText,
  type Item,
  Placeholders,
  placeholdersOf,
  transactElement,
  updateExpression,
  type Write,
  withListVersions,
} from './write.ts';

/** Sends one command (`commands.ts`). Tests inject faults, delays and counters here. */
export type Send = (command: object) => Promise<unknown>;

/** Most keys that one `BatchGetItem` takes: a limit of DynamoDB. */
export const BATCH = 100;

/** Most rounds for unprocessed keys of a batch. */
const MAX_ROUNDS = 8;

/** Does not compile for items of remembered lists: those are written in transactions, with the version of the list. */
type Unlisted<N extends ItemName> = [N] extends [RememberedKind] ? never : unknown;

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
  readonly #joint: readonly JointLists[];
  #tick: Promise<void> | undefined;
  #waiting = new Map<string, { key: Key; done: PromiseWithResolvers<Item | undefined> }>();

  constructor(
    name: string,
    send: Send,
    versions = new ItemVersions([]),
    spans: readonly { readonly pk: string; readonly span: Span<ItemName> }[] = [],
  ) {
    this.#name = name;
    this.#send = send;
    this.#versions = versions;
    this.#joint = spans.map(({ pk, span }) => new JointLists(pk, span, (query) => this.#list(query)));
  }

  /**
   * The same table for a request that reads most lists of a partition: all lists of a span are one query, made once, when
   * the first of them is asked for.
   */
  joined<N extends ItemName>(fields: PartitionFields<N>, spans: readonly Span<N>[]): Table {
    const joint = spans.map((span) => ({ pk: partition(span[0], fields), span }));
    return new Table(this.#name, this.#send, this.#versions, joint);
  }

  /** The item of this kind with these fields in its key, or the one with this key; undefined if there is none. */
  get<N extends ItemName>(kind: N, fields: KeyFields<N>): Promise<ItemOf<N> | undefined>;
  get<N extends ItemName>(key: Key<N>): Promise<ItemOf<N> | undefined>;
  get(at: ItemName | Key, fields?: object): Promise<unknown> {
    const { pk, sk } = typeof at === 'string' ? key(at, fields as never) : at;
    const id = idOf({ pk, sk });
    const same = this.#waiting.get(id);
    if (same) return same.done.promise;
    if (this.#waiting.size === 0) void this.#endOfTick().then(() => this.#flush());
    const done = Promise.withResolvers<Item | undefined>();
    this.#waiting.set(id, { key: { pk, sk }, done });
    return done.promise;
  }

  /** The items with these keys that exist, in no order. */
  async getMany<N extends ItemName>(keys: readonly Key<N>[]): Promise<ItemOf<N>[]> {
    const items = await Promise.all(keys.map((key) => this.get(key)));
    return items.filter((item) => item !== undefined);
  }

  /** Waits for the end of this tick, when the gets of the tick leave as one batch, and all else side by side with it. */
  #endOfTick(): Promise<void> {
    this.#tick ??= new Promise((resolve) =>
      setImmediate(() => {
        this.#tick = undefined;
        resolve();
      }),
    );
    return this.#tick;
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
          (answer.UnprocessedKeys?.[this.#name]?.Keys ?? []).map((key) => idOf(key as Key)),
        );
        for (const item of answer.Responses?.[this.#name] ?? []) {
          const id = idOf(item as Item & Key);
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
    const joint = this.#joint.find((lists) => lists.has(query));
    return joint ? joint.list(query) : this.#list(query);
  }

  async #list<T>(query: Query): Promise<T[]> {
    const items: T[] = [];
    let last: QueryCommandInput['ExclusiveStartKey'];
    do {
      const page = await this.#page<T>(query, last);
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
    await this.#endOfTick();
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
  async update<N extends ItemName>(
    key: Key<N> & Unlisted<N>,
    change: Changes,
    when?: Condition,
  ): Promise<ItemOf<N>> {
    const at = new Placeholders();
    const condition = conditionText(when, at);
    await this.#endOfTick();
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
  async put<N extends ItemName>(key: Key<N> & Unlisted<N>, item: Item, when?: Condition): Promise<void> {
    const at = new Placeholders();
    const written = this.#versions.written({ put: key, item, ...(when && { when }) });
    const condition = conditionText(written.when, at);
    await this.#endOfTick();
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

  /**
   * All of the writes or none. For ten minutes, a repeated call with the same `token` does nothing more. Lists that containers
   * remember get this version if the writes change them.
   */
  async transact(writes: readonly Write[], token: string, version: ListVersion = token): Promise<Outcome> {
    try {
      await this.#send(
        new TransactWriteCommand({
          TransactItems: withListVersions(writes, version).map((write) =>
            transactElement(this.#name, this.#versions.written(write)),
          ),
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
