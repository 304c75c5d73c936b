import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
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

/**
 * Conditions of writes and the expressions DynamoDB wants for them. Only the few forms that the domain uses;
 * everything given must hold at once.
 */
export interface Condition {
  /** The item must not exist (true) or must exist (false). */
  readonly absent?: boolean;
  /** Attributes that must have these values; `undefined` asks for the attribute to be missing. */
  readonly equals?: Readonly<Record<string, unknown>>;
  /** Attributes that must be below these numbers. A missing attribute counts as below. */
  readonly below?: Readonly<Record<string, number>>;
  /** Attributes that must be above these numbers. A missing attribute counts as above. */
  readonly above?: Readonly<Record<string, number>>;
  /** Lists that must have fewer members than this. A missing attribute counts as empty. */
  readonly shorter?: Readonly<Record<string, number>>;
}

interface Expression {
  readonly text: string;
  readonly names: Record<string, string>;
  readonly values: Record<string, unknown>;
}

/** Collects attribute names and values of one expression, so that reserved words never matter. */
export class Placeholders {
  readonly names: Record<string, string> = {};
  readonly values: Record<string, unknown> = {};

  name(attribute: string): string {
    const label = `#${attribute.replace(/\W/g, '_')}`;
    this.names[label] = attribute;
    return label;
  }

  value(value: unknown): string {
    const label = `:v${Object.keys(this.values).length}`;
    this.values[label] = value;
    return label;
  }
}

/** The text of a condition, with its names and values added to `at`; undefined when it asks for nothing. */
export function conditionText(condition: Condition | undefined, at: Placeholders): string | undefined {
  if (condition === undefined) return undefined;
  const parts: string[] = [];
  if (condition.absent !== undefined) {
    parts.push(`attribute_${condition.absent ? 'not_exists' : 'exists'}(${at.name('pk')})`);
  }
  for (const [attribute, value] of Object.entries(condition.equals ?? {})) {
    parts.push(
      value === undefined
        ? `attribute_not_exists(${at.name(attribute)})`
        : `${at.name(attribute)} = ${at.value(value)}`,
    );
  }
  for (const [sign, limits] of [['<', condition.below] as const, ['>', condition.above] as const]) {
    for (const [attribute, limit] of Object.entries(limits ?? {})) {
      const name = at.name(attribute);
      parts.push(`(attribute_not_exists(${name}) OR ${name} ${sign} ${at.value(limit)})`);
    }
  }
  for (const [attribute, limit] of Object.entries(condition.shorter ?? {})) {
    const name = at.name(attribute);
    parts.push(`(attribute_not_exists(${name}) OR size(${name}) < ${at.value(limit)})`);
  }
  return parts.length === 0 ? undefined : parts.join(' AND ');
}

export interface Changes {
  readonly set?: Readonly<Record<string, unknown>>;
  /** Set only where the attribute is still missing. */
  readonly setOnce?: Readonly<Record<string, unknown>>;
  /** Set to the value that another attribute had before this change, or to `missing` where it had none. */
  readonly setFrom?: Readonly<Record<string, { readonly attribute: string; readonly missing: unknown }>>;
  /** Members to put before those of a list. A missing attribute counts as empty. */
  readonly prepend?: Readonly<Record<string, readonly unknown[]>>;
  /** Numbers to add (negative to subtract), or sets whose members to add. */
  readonly add?: Readonly<Record<string, number | ReadonlySet<number>>>;
  /** Sets whose members to take out. */
  readonly take?: Readonly<Record<string, ReadonlySet<number>>>;
  readonly remove?: readonly string[];
}

/** The update expression of a set of changes. */
export function updateExpression(changes: Changes, at: Placeholders): string {
  const clauses: string[] = [];
  const sets = [
    ...Object.entries(changes.set ?? {}).map(([name, value]) => `${at.name(name)} = ${at.value(value)}`),
    ...Object.entries(changes.setOnce ?? {}).map(([name, value]) => {
      const label = at.name(name);
      return `${label} = if_not_exists(${label}, ${at.value(value)})`;
    }),
    ...Object.entries(changes.setFrom ?? {}).map(
      ([name, { attribute, missing }]) =>
        `${at.name(name)} = if_not_exists(${at.name(attribute)}, ${at.value(missing)})`,
    ),
    ...Object.entries(changes.prepend ?? {}).map(([name, members]) => {
      const label = at.name(name);
      return `${label} = list_append(${at.value(members)}, if_not_exists(${label}, ${at.value([])}))`;
    }),
  ];
  if (sets.length > 0) clauses.push(`SET ${sets.join(', ')}`);
  const pairs = (record: Readonly<Record<string, unknown>> | undefined): string =>
    Object.entries(record ?? {})
      .map(([name, value]) => `${at.name(name)} ${at.value(value)}`)
      .join(', ');
  if (changes.add && Object.keys(changes.add).length > 0) clauses.push(`ADD ${pairs(changes.add)}`);
  if (changes.take && Object.keys(changes.take).length > 0) clauses.push(`DELETE ${pairs(changes.take)}`);
  if (changes.remove && changes.remove.length > 0) {
    clauses.push(`REMOVE ${changes.remove.map((name) => at.name(name)).join(', ')}`);
  }
  return clauses.join(' ');
}

/** What the SDK wants for names and values: nothing where there are none. */
export const placeholdersOf = (
  at: Placeholders,
): Partial<Record<string, Expression['names'] | Expression['values']>> => ({
  ...(Object.keys(at.names).length > 0 && { ExpressionAttributeNames: at.names }),
  ...(Object.keys(at.values).length > 0 && { ExpressionAttributeValues: at.values }),
});
