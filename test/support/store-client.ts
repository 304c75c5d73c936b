import { fromWire, toWire } from '../../shared/table/stored-item.ts';
import type { Send } from '../../shared/table/table.ts';
import { StoreConnections } from './store-connection.ts';

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
    const { input } = given as unknown as { readonly input: object };
    const name = given.constructor.name.replace(/Command$/, '');
    const body = JSON.stringify(toWire(input));
    const [status, text] = await connections.post(`${SIGNED}${operations[name] ?? name}\r\n`, body);
    const answer = fromWire(JSON.parse(text));
    if (status < 300) return answer;
    const { __type, message, Message, ...fields } = answer;
    const error = new Error(String(message ?? Message));
    throw Object.assign(error, { name: String(__type).split('#').at(-1) }, fields);
  };
}
