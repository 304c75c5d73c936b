import type { BatchGetCommandOutput, QueryCommandOutput } from '@aws-sdk/lib-dynamodb';
import { SETTLE } from '../../shared/log/log.ts';
import { BatchGetCommand, QueryCommand, TransactWriteCommand } from '../../shared/table/commands.ts';
import type { Send } from '../../shared/table/table.ts';
import { TABLE } from './store.ts';

type Item = Record<string, unknown> & { readonly pk: string; readonly sk: string };
type Key = Pick<Item, 'pk' | 'sk'>;

const idOf = ({ pk, sk }: Key): string => JSON.stringify([pk, sk]);

/**
 * DynamoDB shows a transaction to batches and queries item by item. This shows readers the worst of that: the log has
 * the new slots at once, and every other item that a transaction wrote stays as it was for as long as it may.
 */
export class Curtain {
  /** Items as they were before the first transaction that readers have not seen whole; undefined for what was absent. */
  #before = new Map<string, { readonly key: Key; readonly item: Item | undefined }>();
  #until: number | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** The connection of those who write: it notes what their transactions change. */
  readonly writing =
    (send: Send): Send =>
    (command) => {
      if (!(command instanceof TransactWriteCommand)) return send(command);
      // One after the other, so that what was there before is known.
      const done = this.#last.then(() => this.#transact(command, send));
      this.#last = done.catch(() => {});
      return done;
    };

  /** The connection of a reader who sees every such transaction half, from `fall` on until the time is up. */
  readonly reading =
    (now: () => number) =>
    (send: Send): Send =>
    async (command) => {
      const answer = await send(command);
      if (this.#until === undefined || now() >= this.#until) return answer;
      if (command instanceof BatchGetCommand) {
        const output = answer as BatchGetCommandOutput;
        const keys = (command.input.RequestItems?.[TABLE]?.Keys ?? []) as Key[];
        return { ...output, Responses: { [TABLE]: this.#seen(keys, output.Responses?.[TABLE] ?? []) } };
      }
      if (command instanceof QueryCommand && command.input.IndexName === undefined) {
        const output = answer as QueryCommandOutput;
        const { ExpressionAttributeValues: values = {}, ScanIndexForward: rises } = command.input;
        const [pk] = Object.values(values);
        const gone = [...this.#before.values()].filter(({ key }) => key.pk === pk).map(({ key }) => key);
        const keys = new Map([...((output.Items ?? []) as Item[]), ...gone].map((key) => [idOf(key), key]));
        const items = this.#seen([...keys.values()], output.Items ?? []).filter(({ sk }) =>
          isWithin(sk, command.input.KeyConditionExpression ?? '', Object.values(values)),
        );
        items.sort((a, b) => (a.sk < b.sk ? -1 : 1));
        return { ...output, Items: rises === false ? items.reverse() : items };
      }
      return answer;
    };

  /** From `now` (ms) on, readers see what was committed since the last `lift` only in part. */
  fall(now: number): void {
    this.#until = now + SETTLE - 1;
  }

  /** Everything can be seen whole. */
  lift(): void {
    this.#until = undefined;
    this.#before = new Map();
  }

  async #transact(command: TransactWriteCommand, send: Send): Promise<unknown> {
    const keys = (command.input.TransactItems ?? []).flatMap(
      ({ Put, Update, Delete }) => (Put?.Item ?? Update?.Key ?? Delete?.Key ?? []) as Key | [],
    ) as Key[];
    const wanted = keys.map(({ pk, sk }) => ({ pk, sk })).filter((key) => !this.#before.has(idOf(key)));
    const found = new Map<string, Item>();
    if (wanted.length > 0) {
      const read = new BatchGetCommand({ RequestItems: { [TABLE]: { Keys: wanted, ConsistentRead: true } } });
      const { Responses = {} } = (await send(read)) as BatchGetCommandOutput;
      for (const item of Responses[TABLE] ?? []) found.set(idOf(item as Item), item as Item);
    }
    const answer = await send(command);
    for (const key of wanted) {
      const item = found.get(idOf(key));
      const isNewSlot = item === undefined && key.pk.endsWith('/log');
      if (!isNewSlot) this.#before.set(idOf(key), { key, item });
    }
    return answer;
  }

  /** The items with these keys as they are shown. */
  #seen(keys: readonly Key[], items: readonly Record<string, unknown>[]): Item[] {
    const stored = new Map((items as readonly Item[]).map((item) => [idOf(item), item]));
    return keys.flatMap((key) => {
      const hidden = this.#before.get(idOf(key));
      return (hidden ? hidden.item : stored.get(idOf(key))) ?? [];
    });
  }
}

/** Whether a sort key is one of those that a query asks for, as `Table` writes its queries. */
function isWithin(sk: string, condition: string, [, ...values]: readonly string[]): boolean {
  const [first = '', last = ''] = values;
  if (condition.includes('begins_with')) return sk.startsWith(first);
  if (condition.includes('BETWEEN')) return sk >= first && sk <= last;
  if (condition.includes('>=')) return sk >= first;
  return !condition.includes('<=') || sk <= first;
}
