import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { isOf, type Key, key, peopleOf, realmOf, userOf } from './keys.ts';
import { type ListVersion, type RememberedKind, rememberedLists } from './remembered-lists.ts';

export type Item = Readonly<Record<string, unknown>>;

/** Options of every write. */
interface Guarded {
  readonly when?: Condition;
  /** The write to try instead if the condition fails. */
  readonly fallback?: Write;
}

/** Options of puts and updates whose value is in an event too. */
interface Ordered extends Guarded {
  /**
   * The item keeps the log number of its last change in `changed`, and refuses a change with a lower one: the last event
   * in the log is then what is stored, however late a writer with a lower number is.
   */
  readonly lastWriterWins?: true;
}

/** One write of a transaction. Domain verbs return these; only `commit` carries them out. */
export type Write =
  | ({ readonly put: Key; readonly item: Item } & Ordered)
  | ({ readonly update: Key; readonly change: Changes } & Ordered)
  | ({ readonly delete: Key } & Guarded)
  | ({ readonly check: Key } & Guarded & { readonly when: Condition });

/** The key of the item that is written. */
export const keyOf = (write: Write): Key =>
  'put' in write
    ? write.put
    : 'update' in write
      ? write.update
      : 'delete' in write
        ? write.delete
        : write.check;

type Element = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** The write as an element of `TransactWriteItems`. If it is refused, DynamoDB returns the item as it is. */
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

const isListVersion = isOf('listVersions');

/** The writes, and one more for each organization whose remembered lists they change. */
export function withListVersions(writes: readonly Write[], version: ListVersion): readonly Write[] {
  const changed = new Map<string, Partial<Record<RememberedKind, ListVersion>>>();
  for (const write of writes) {
    const at = keyOf(write);
    const list = 'check' in write ? undefined : rememberedLists.find(({ has }) => has(at));
    if (list === undefined || changesOnly(write, list.leftOut)) continue;
    changed.set(realmOf(at), { ...changed.get(realmOf(at)), [list.kind]: version });
  }
  if (changed.size === 0 || writes.some((write) => isListVersion(keyOf(write)))) return writes;
  return [
    ...writes,
    ...[...changed].map(([realm, set]) => ({ update: key('listVersions', { realm }), change: { set } })),
  ];
}

/** Whether a write changes these attributes only. */
const changesOnly = (write: Write, attributes: ReadonlySet<string>): boolean =>
  'update' in write &&
  Object.values(write.change)
    .flatMap((part: object) => (Array.isArray(part) ? (part as string[]) : Object.keys(part)))
    .every((attribute) => attributes.has(attribute));

/** What registrations do not read: records of sends, counts of topics, reactions. */
const outsideState = [isOf('sent'), isOf('topic'), isOf('reaction'), isOf('reactions')];

/** What only the registration of one user reads although it stands elsewhere. Their id ends the key. */
const personal = [isOf('participant'), isOf('topicPolicy')];

/** More owners than this are not noted: such a change is rare, and a slot must stay small. */
const MAX_OWNERS = 10;

/**
 * The users in whose own items a commit writes; undefined if it writes something that the registrations of others read too,
 * or for too many. Nothing says so if that is wrong but a state that lacks a change, so a kind is listed here only where
 * `test/events/register-wait.test.ts` shows that nobody else's registration reads it.
 */
export function ownersOf(writes: readonly Write[]): readonly number[] | undefined {
  const owners = new Set<number>();
  for (const write of writes) {
    const at = keyOf(write);
    if ('check' in write || outsideState.some((has) => has(at))) continue;
    const ids = readersOf(at);
    if (ids.length === 0) return undefined;
    for (const id of ids) owners.add(id);
  }
  return owners.size > MAX_OWNERS ? undefined : [...owners];
}

const isConversation = isOf('conversation');

/** The users whose registrations read an item, if they can be seen in its key. */
function readersOf(at: Key): readonly number[] {
  if (isConversation(at)) return peopleOf(at.pk.slice(at.pk.lastIndexOf('/') + 1));
  if (personal.some((has) => has(at))) return [Number(at.sk.slice(at.sk.lastIndexOf('/') + 1))];
  const owner = userOf(at);
  return owner === undefined ? [] : [owner];
}

/** The condition of a write, in the few forms that the domain uses. All of them must hold. */
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

/** The condition that an item still has the version that was read; undefined if it had none, or was not there. */
export const hasVersion = (version: number | string | undefined): Condition => ({ equals: { version } });

/** The same for an item that its first change makes: until then its version counts as 0. */
export const hasVersionOrNone = (version: number): Condition =>
  version === 0 ? { absent: true } : hasVersion(version);

interface Expression {
  readonly text: string;
  readonly names: Record<string, string>;
  readonly values: Record<string, unknown>;
}

/** Collects the attribute names and values of an expression, so that reserved words never matter. */
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

/** The text of a condition, whose names and values are added to `at`; undefined for an empty one. */
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

/** Names and values as parameters of a command; DynamoDB refuses empty ones. */
export const placeholdersOf = (
  at: Placeholders,
): Partial<Record<string, Expression['names'] | Expression['values']>> => ({
  ...(Object.keys(at.names).length > 0 && { ExpressionAttributeNames: at.names }),
  ...(Object.keys(at.values).length > 0 && { ExpressionAttributeValues: at.values }),
});
