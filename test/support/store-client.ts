import { convertToAttr, convertToNative, type NativeAttributeValue } from '@aws-sdk/util-dynamodb';
import type { Send } from '../../shared/table/table.ts';
import { StoreConnections } from './store-connection.ts';

/** Which parts of an input or output are attribute values; null for a value itself, `{}` for a map of them. */
type KeyNodes = { readonly [name: string]: KeyNodes } | readonly never[] | null | undefined;

interface DocumentCommand {
  readonly input: Readonly<Record<string, unknown>>;
  readonly inputKeyNodes: KeyNodes;
  readonly outputKeyNodes: KeyNodes;
}

/** Operations whose name is not that of their command. */
const operations: Readonly<Record<string, string>> = {
  BatchGet: 'BatchGetItem',
  BatchWrite: 'BatchWriteItem',
  Delete: 'DeleteItem',
  Get: 'GetItem',
  Put: 'PutItem',
  TransactGet: 'TransactGetItems',
  TransactWrite: 'TransactWriteItems',
  Update: 'UpdateItem',
};

/** The store wants a signature, and looks no further. */
const SIGNED = [
  'content-type: application/x-amz-json-1.0',
  'x-amz-date: 20260101T000000Z',
  'authorization: AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none',
  'x-amz-target: DynamoDB_20120810.',
].join('\r\n');

/**
 * A connection to the store of a test run that only does what tests need: no signatures, retries or time limits. With
 * the client of the SDK these took a third of the processor time of all tests. What functions use is tested where it
 * matters: `test/table/protocol.test.ts`, `test/infra/bundled-clients.test.ts`, and whatever runs the local cloud.
 *
 * Errors have the name, message and fields that the store gives them.
 */
export function storeClient(endpoint: string): Send {
  const connections = new StoreConnections(endpoint);
  return async (given) => {
    const { input, inputKeyNodes, outputKeyNodes } = given as unknown as DocumentCommand;
    const name = given.constructor.name.replace(/Command$/, '');
    const body = JSON.stringify(converted(input, inputKeyNodes, toAttribute));
    const [status, text] = await connections.post(`${SIGNED}${operations[name] ?? name}\r\n`, body);
    const answer = JSON.parse(text);
    if (status < 300) return converted(answer, outputKeyNodes, toNative) as object;
    const { __type, message, Message, ...fields } = answer;
    const error = new Error(message ?? Message);
    throw Object.assign(error, { name: String(__type).split('#').at(-1) }, fields);
  };
}

type Convert = (value: never) => unknown;

/** Converts the attribute values of an input or output, and leaves the rest as it is. */
function converted(value: unknown, nodes: KeyNodes, convert: Convert): unknown {
  if (value === undefined) return undefined;
  if (nodes === null || nodes === undefined) return convert(value as never);
  const children = nodes as Readonly<Record<string, KeyNodes>>;
  const child = childConverter(children, convert);
  return Array.isArray(value)
    ? value.map((field, i) => child(field, String(i)))
    : mapped(value as Fields, child);
}

function childConverter(children: Readonly<Record<string, KeyNodes>>, convert: Convert) {
  if (isEmpty(children)) return (field: unknown) => converted(field, null, convert);
  if ('*' in children) return (field: unknown) => converted(field, children['*'], convert);
  return (field: unknown, name: string) =>
    name in children ? converted(field, children[name], convert) : field;
}

function isEmpty(fields: object): boolean {
  for (const _ in fields) return false;
  return true;
}

type Fields = Readonly<Record<string, unknown>>;

/** Each field converted; what becomes undefined is left out. */
function mapped(fields: Fields, convert: (field: unknown, name: string) => unknown): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    const field = convert(fields[name], name);
    if (field !== undefined) result[name] = field;
  }
  return result;
}

/**
 * A value as the store wants it, with bytes as base64. Usual values are converted here, since the SDK takes a multiple
 * of the time; it converts all others, and refuses what is no value.
 */
function toAttribute(value: unknown): unknown {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'boolean') return { BOOL: value };
  if (Number.isSafeInteger(value)) return { N: String(value) };
  if (Array.isArray(value)) return { L: value.filter(isKept).map(toAttribute) };
  if (value?.constructor === Object) {
    return { M: mapped(value as Fields, (field) => (isKept(field) ? toAttribute(field) : undefined)) };
  }
  const { B, BS, ...other } = convertToAttr(value as NativeAttributeValue, {
    removeUndefinedValues: true,
    convertTopLevelContainer: true,
  }) as { readonly B?: Uint8Array; readonly BS?: readonly Uint8Array[] };
  if (B) return { B: base64(B) };
  return BS ? { BS: BS.map(base64) } : other;
}

const isKept = (value: unknown): boolean => value !== undefined && typeof value !== 'function';

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));

/** An attribute value as the store sends it: one of these. */
interface Sent {
  readonly S?: string;
  readonly N?: string;
  readonly BOOL?: boolean;
  readonly M?: Readonly<Record<string, Sent>>;
  readonly L?: readonly Sent[];
  readonly SS?: readonly string[];
  readonly B?: string;
  readonly BS?: readonly string[];
}

/** The value of an attribute; as above, the SDK converts the unusual ones. */
function toNative(sent: Sent): unknown {
  const { S, N, BOOL, M, L, SS, B, BS } = sent;
  if (S !== undefined) return S;
  if (N !== undefined && Number.isSafeInteger(Number(N))) return Number(N);
  if (BOOL !== undefined) return BOOL;
  if (M) return mapped(M, (field) => toNative(field as Sent));
  if (L) return L.map(toNative);
  if (SS) return new Set(SS);
  if (B !== undefined) return bytes(B);
  return BS ? new Set(BS.map(bytes)) : convertToNative(sent as never);
}
