import { Agent, request } from 'node:http';
import { convertToAttr, convertToNative, type NativeAttributeValue } from '@aws-sdk/util-dynamodb';
import type { Send } from '../../shared/table/table.ts';

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
const SIGNED = {
  'x-amz-date': '20260101T000000Z',
  authorization:
    'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none',
};

/**
 * A connection to the store of a test run that only does what tests need: no signatures, retries or time limits. With
 * the client of the SDK these took a third of the processor time of all tests. What functions use is tested where it
 * matters: `test/table/protocol.test.ts`, `test/infra/bundled-clients.test.ts`, and whatever runs the local cloud.
 *
 * Errors have the name, message and fields that the store gives them.
 */
export function storeClient(endpoint: string): Send {
  const { hostname, port } = new URL(endpoint);
  const agent = new Agent({ keepAlive: true });
  return async (given) => {
    const { input, inputKeyNodes, outputKeyNodes } = given as unknown as DocumentCommand;
    const name = given.constructor.name.replace(/Command$/, '');
    const body = JSON.stringify(converted(input, inputKeyNodes, toAttribute), withBase64);
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'content-length': Buffer.byteLength(body),
      'x-amz-target': `DynamoDB_20120810.${operations[name] ?? name}`,
      ...SIGNED,
    };
    const [status, text] = await new Promise<[number, string]>((resolve, reject) => {
      const sent = request({ hostname, port, agent, method: 'POST', headers }, (reply) => {
        const chunks: Buffer[] = [];
        reply.on('data', (chunk: Buffer) => chunks.push(chunk));
        reply.on('end', () => resolve([reply.statusCode ?? 500, Buffer.concat(chunks).toString()]));
        reply.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });
    const answer = JSON.parse(text);
    if (status < 300) return converted(answer, outputKeyNodes, toNative) as object;
    const { __type, message, Message, ...fields } = answer;
    const error = new Error(message ?? Message);
    throw Object.assign(error, { name: String(__type).split('#').at(-1) }, fields);
  };
}

const toAttribute = (value: unknown): unknown =>
  convertToAttr(value as NativeAttributeValue, {
    removeUndefinedValues: true,
    convertTopLevelContainer: true,
  });

const toNative = (value: unknown): unknown => convertToNative(bytesIn(value) as never);

/** Converts the attribute values of an input or output, and leaves the rest as it is. */
function converted(value: unknown, nodes: KeyNodes, convert: (value: unknown) => unknown): unknown {
  if (value === undefined) return undefined;
  if (nodes === null || nodes === undefined) return convert(value);
  const names = Object.keys(nodes);
  const children = nodes as Readonly<Record<string, KeyNodes>>;
  const child = (name: string, field: unknown): unknown => {
    if (names.length === 0) return converted(field, null, convert);
    if (names.length === 1 && names[0] === '*') return converted(field, children['*'], convert);
    return name in children ? converted(field, children[name], convert) : field;
  };
  if (Array.isArray(value)) return value.map((field, i) => child(String(i), field));
  return Object.fromEntries(
    Object.entries(value as object).map(([name, field]) => [name, child(name, field)]),
  );
}

/** Writes bytes as base64. */
function withBase64(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const raw = this[name];
  return raw instanceof Uint8Array ? Buffer.from(raw).toString('base64') : value;
}

/** An attribute value with bytes in place of base64. */
function bytesIn(value: unknown): unknown {
  const { B, BS, L, M } = value as Record<string, unknown>;
  if (typeof B === 'string') return { B: new Uint8Array(Buffer.from(B, 'base64')) };
  if (Array.isArray(BS)) return { BS: BS.map((text) => new Uint8Array(Buffer.from(text, 'base64'))) };
  if (Array.isArray(L)) return { L: L.map(bytesIn) };
  if (M === undefined) return value;
  return { M: Object.fromEntries(Object.entries(M as object).map(([name, it]) => [name, bytesIn(it)])) };
}
