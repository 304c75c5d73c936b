import { type ItemName, isOf, itemKinds, type Key } from './keys.ts';
import type { Item, Write } from './write.ts';

/** The versions of the items of one kind. An item has its version in `v`; without it, it is of version 1. */
export interface Versions {
  readonly kind: ItemName;
  /**
   * The n-th turns version n into n + 1. It adds missing attributes and leaves existing ones: newer code may have updated
   * the item already.
   */
  readonly lifts: readonly ((item: Item) => Item)[];
  /**
   * The version of new items. If older functions cannot read the newest one, it is written one release later: readers
   * first, writers next (infra/UPGRADES.md).
   */
  readonly writes: number;
}

/** An item that newer code wrote: a fault, for the operator. */
export class NewerItem extends Error {
  constructor(kind: string, version: unknown, known: number) {
    super(
      `an item (${kind}) has version ${version}, and this release knows versions up to ${known}: deploy the release that wrote it, or a later one`,
    );
    this.name = 'NewerItem';
  }
}

/** The kind of an item, for error texts: keys may hold addresses and tokens. */
const nameOf = (item: Item): string =>
  (Object.keys(itemKinds) as ItemName[]).find((name) => isOf(name)(item as unknown as Key)) ?? 'unknown';

/** The newest known version of a kind. */
export const newestOf = ({ lifts }: Pick<Versions, 'lifts'>): number => lifts.length + 1;

/** The versions up to the one that this release writes. A newer one, which it only reads, is for the next release. */
export const writtenVersions = (versions: Versions): Versions => ({
  ...versions,
  lifts: versions.lifts.slice(0, versions.writes - 1),
});

/** Brings an item to its newest version. Throws `NewerItem`. */
export function lift({ v = 1, ...item }: Item, versions: Versions): Item {
  const known = newestOf(versions);
  if ((v as number) > known) throw new NewerItem(versions.kind, v, known);
  return versions.lifts.slice((v as number) - 1).reduce((older, step) => step(older), item);
}

/** The versions of all kinds. Kinds that are not listed have one version only. */
export class ItemVersions {
  readonly #kinds: readonly (Versions & { readonly has: (key: Key) => boolean })[];

  constructor(kinds: readonly Versions[]) {
    this.#kinds = kinds.map((versions) => ({ ...versions, has: isOf(versions.kind) }));
  }

  /** Brings a stored item of any kind to its newest version. Throws `NewerItem`. */
  lifted<T extends Item>(stored: T): T {
    const kind = this.#kindOf(stored);
    if (kind !== undefined) return lift(stored, kind) as T;
    if (stored.v !== undefined) throw new NewerItem(nameOf(stored), stored.v, 1);
    return stored;
  }

  /**
   * Adds to a put the version of the item, and the condition that it replaces no newer one. Updates need neither: they
   * leave unknown attributes and the version as they are.
   */
  written<W extends Write>(write: W): W {
    if (!('put' in write)) return write;
    const kind = this.#kindOf(write.put);
    const isPlain = kind === undefined || kind.writes === 1;
    const item = isPlain ? write.item : { ...write.item, v: kind.writes };
    if (write.when?.absent) return { ...write, item };
    const known = kind === undefined ? 1 : newestOf(kind);
    return { ...write, item, when: { ...write.when, below: { ...write.when?.below, v: known + 1 } } };
  }

  #kindOf(item: Item | Key): Versions | undefined {
    return this.#kinds.find(({ has }) => has(item as Key));
  }
}

/** An attribute value as DynamoDB's JSON has it: one of these, with bytes in base64. */
interface AttributeValue {
  readonly S?: string;
  readonly N?: string;
  readonly BOOL?: boolean;
  readonly M?: Attributes;
  readonly L?: readonly AttributeValue[];
  readonly NULL?: true;
  readonly SS?: readonly string[];
  readonly NS?: readonly string[];
  readonly B?: string;
  readonly BS?: readonly string[];
}

/** An item, a key or the values of an expression, by name. */
type Attributes = Readonly<Record<string, AttributeValue>>;

type Fields = Readonly<Record<string, unknown>>;

/** The input of an operation as DynamoDB wants it. Throws `TypeError` for a value that it cannot store. */
export const toWire = (input: object): object => converted(input as Fields, toAttributes);

/** The output of an operation, or the fields of an error, with plain values. */
export function fromWire({ Responses: responses, ...output }: Fields): Record<string, unknown> {
  if (responses === undefined) return converted(output, fromAttributes);
  // The items of a batch, by table.
  const items = Object.entries(responses as Readonly<Record<string, readonly Attributes[]>>).map(
    ([table, found]) => [table, found.map(fromAttributes)] as const,
  );
  return { ...converted(output, fromAttributes), Responses: Object.fromEntries(items) };
}

/** Fields of inputs and outputs that hold attributes by name, or lists of such. */
const HOLDERS = new Set([
  'Attributes',
  'ExclusiveStartKey',
  'ExpressionAttributeValues',
  'Item',
  'Items',
  'Key',
  'Keys',
  'LastEvaluatedKey',
]);

/** An input or output in which `convert` was applied to all attributes. */
function converted(fields: Fields, convert: (attributes: never) => object): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) result[name] = convertedField(name, fields[name], convert);
  return result;
}

function convertedField(name: string, value: unknown, convert: (attributes: never) => object): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (HOLDERS.has(name)) return Array.isArray(value) ? value.map(convert as never) : convert(value as never);
  return Array.isArray(value)
    ? value.map((each) => convertedField('', each, convert))
    : converted(value as Fields, convert);
}

/** The fields of an item as DynamoDB wants them. What is undefined is left out. */
const toAttributes = (fields: Fields): Attributes => {
  const attributes: Record<string, AttributeValue> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (isKept(value)) attributes[name] = toAttribute(value);
  }
  return attributes;
};

/**
 * The fields of an item as DynamoDB sent it, sorted by name. A store may send the attributes of each item in another order, and
 * every order is a hidden class of its own, which takes longer to make than the item, and more memory.
 */
const fromAttributes = (attributes: Attributes): Record<string, unknown> => {
  const fields: Record<string, unknown> = {};
  for (const name of Object.keys(attributes).sort())
    fields[name] = fromAttribute(attributes[name] as AttributeValue);
  return fields;
};

/** A value as DynamoDB wants it. Throws `TypeError` for what it cannot store: an empty set, a date, an inexact number. */
function toAttribute(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'boolean') return { BOOL: value };
  if (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return { N: String(value) };
  if (value === null) return { NULL: true };
  if (Array.isArray(value)) return { L: value.filter(isKept).map(toAttribute) };
  if (value instanceof Uint8Array) return { B: toBase64(value) };
  if (value instanceof Set) return toSet([...value]);
  if (isPlain(value)) return { M: toAttributes(value) };
  throw new TypeError(`DynamoDB has no value for this: ${typeof value}`);
}

/** A set, whose members have one type: the first one's. */
function toSet(members: readonly unknown[]): AttributeValue {
  const areAll = (type: string): boolean =>
    members.length > 0 && members.every((member) => typeof member === type);
  if (areAll('string')) return { SS: members as string[] };
  if (areAll('number')) return { NS: members.map(String) };
  if (areAll('object')) return { BS: (members as Uint8Array[]).map(toBase64) };
  throw new TypeError('DynamoDB has no empty or mixed sets.');
}

const isPlain = (value: unknown): value is Fields => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

const isKept = (value: unknown): boolean => value !== undefined && typeof value !== 'function';

/** The value of an attribute. */
function fromAttribute({ S, N, M, L, BOOL, SS, NS, B, BS }: AttributeValue): unknown {
  if (S !== undefined) return S;
  if (N !== undefined) return Number(N);
  if (M !== undefined) return fromAttributes(M);
  if (BOOL !== undefined) return BOOL;
  if (L !== undefined) return L.map(fromAttribute);
  if (SS !== undefined) return new Set(SS);
  if (NS !== undefined) return new Set(NS.map(Number));
  if (B !== undefined) return fromBase64(B);
  return BS === undefined ? null : new Set(BS.map(fromBase64));
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

const fromBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));
