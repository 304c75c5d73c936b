import { convertToAttr, convertToNative, type NativeAttributeValue } from '@aws-sdk/util-dynamodb';

/** An attribute value as DynamoDB's JSON has it: one of these, with bytes in base64. */
interface AttributeValue {
  readonly S?: string;
  readonly N?: string;
  readonly BOOL?: boolean;
  readonly M?: Attributes;
  readonly L?: readonly AttributeValue[];
  readonly SS?: readonly string[];
  readonly B?: string;
  readonly BS?: readonly string[];
}

/** An item, a key or the values of an expression, by name. */
type Attributes = Readonly<Record<string, AttributeValue>>;

type Fields = Readonly<Record<string, unknown>>;

/** The input of an operation as DynamoDB wants it. */
export const toWire = (input: object): object => converted(input as Fields, toAttributes);

/** The output of an operation with plain values. */
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

/** The fields of an item as DynamoDB sent it. */
const fromAttributes = (attributes: Attributes): Record<string, unknown> => {
  const fields: Record<string, unknown> = {};
  for (const name of Object.keys(attributes))
    fields[name] = fromAttribute(attributes[name] as AttributeValue);
  return fields;
};

/**
 * A value as DynamoDB wants it. Usual values are converted here, since the SDK takes a multiple of the time. It converts all others, and throws for what is
 * no value.
 */
function toAttribute(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'boolean') return { BOOL: value };
  if (Number.isSafeInteger(value)) return { N: String(value) };
  if (Array.isArray(value)) return { L: value.filter(isKept).map(toAttribute) };
  if (value?.constructor === Object) return { M: toAttributes(value as Fields) };
  const { B, BS, ...other } = convertToAttr(value as NativeAttributeValue, {
    removeUndefinedValues: true,
    convertTopLevelContainer: true,
  }) as { readonly B?: Uint8Array; readonly BS?: readonly Uint8Array[] };
  if (B) return { B: toBase64(B) };
  return BS ? { BS: BS.map(toBase64) } : other;
}

const isKept = (value: unknown): boolean => value !== undefined && typeof value !== 'function';

/** The value of an attribute; as above, the SDK converts the unusual ones. */
function fromAttribute(attribute: AttributeValue): unknown {
  const { S, N, M, L, BOOL } = attribute;
  if (S !== undefined) return S;
  const number = N === undefined ? undefined : Number(N);
  if (Number.isSafeInteger(number)) return number;
  if (M !== undefined) return fromAttributes(M);
  if (BOOL !== undefined) return BOOL;
  if (L !== undefined) return L.map(fromAttribute);
  const { SS, B, BS } = attribute;
  if (SS !== undefined) return new Set(SS);
  if (B !== undefined) return fromBase64(B);
  return BS ? new Set(BS.map(fromBase64)) : convertToNative(attribute as never);
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** Bytes of a value. */
export const fromBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));
