import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import {
  type Changes,
  type Condition,
  conditionText,
  Placeholders,
  placeholdersOf,
  updateExpression,
} from './condition.ts';
import type { Key } from './keys.ts';

export type Item = Readonly<Record<string, unknown>>;

/** What every write of a transaction may carry. */
interface Guarded {
  readonly when?: Condition;
  /** What is written instead where the condition fails. */
  readonly fallback?: Write;
}

/** What a write of a value that is also told by an event carries besides. */
interface Ordered extends Guarded {
  /**
   * The item remembers, as `changed`, the number under which it was changed last, and refuses a change under a
   * lower one: what the log tells last is then what is stored, however late a writer with an early number is.
   */
  readonly lastWriterWins?: true;
}

/** One write of a transaction. Domain verbs return these; only `commit` carries them out. */
export type Write =
  | ({ readonly put: Key; readonly item: Item } & Ordered)
  | ({ readonly update: Key; readonly change: Changes } & Ordered)
  | ({ readonly delete: Key } & Guarded)
  | ({ readonly check: Key } & Guarded & { readonly when: Condition });

/** The key that a write is about. */
export const keyOf = (write: Write): Key =>
  'put' in write
    ? write.put
    : 'update' in write
      ? write.update
      : 'delete' in write
        ? write.delete
        : write.check;

type Element = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** The write in the words of `TransactWriteItems`. A refused one brings the item that refused it. */
export function transactElement(table: string, write: Write): Element {
  const at = new Placeholders();
  const condition = conditionText(write.when, at);
  const guarded = {
    TableName: table,
    ...(condition !== undefined && {
      ConditionExpression: condition,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    }),
  };
  if ('put' in write) {
    return { Put: { ...guarded, Item: { ...write.put, ...write.item }, ...placeholdersOf(at) } };
  }
  if ('update' in write) {
    const UpdateExpression = updateExpression(write.change, at);
    return { Update: { ...guarded, Key: { ...write.update }, UpdateExpression, ...placeholdersOf(at) } };
  }
  if ('delete' in write) return { Delete: { ...guarded, Key: { ...write.delete }, ...placeholdersOf(at) } };
  return {
    ConditionCheck: {
      ...guarded,
      Key: { ...write.check },
      ConditionExpression: condition ?? '',
      ...placeholdersOf(at),
    },
  };
}
