import { DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { clientOptions } from '../aws/client-options.ts';
import { fromWire, toWire } from './stored-item.ts';
import type { Send } from './table.ts';

/** The endpoint of the service. */
interface Place {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
}

interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
}

/** The prefix of an operation in `x-amz-target`. */
const TARGET = 'DynamoDB_20120810';
/** An error that is worth a retry, though the client does not retry its name or status by default. */
const RETRYABLE = 'ReplicatedWriteConflictException';

/**
 * Our serializer for DynamoDB's protocol (`application/x-amz-json-1.0`: JSON with bytes in base64). It replaces that of the
 * SDK, which walks a schema for each value, and that of its document client, which walks the result again: inputs and outputs
 * hold plain values here. That takes a third off the processor time of 100 messages. Connections, signatures, retries and endpoint
 * resolution stay with the SDK.
 *
 * Errors have the name, message and fields of the service, with plain items, and all have one class: tell them apart by
 * `name`.
 */
export const jsonProtocol = {
  getShapeId: () => 'aws.protocols#awsJson1_0',
  setSerdeContext: () => {},

  async serializeRequest(
    operation: { readonly name: string },
    input: object,
    context: { readonly endpoint: () => Promise<Place> },
  ) {
    const { protocol, hostname, port, path } = await context.endpoint();
    return {
      method: 'POST',
      protocol,
      hostname,
      ...(port !== undefined && { port }),
      path,
      query: {},
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `${TARGET}.${operation.name}`,
      },
      body: JSON.stringify(toWire(input)),
    };
  },

  async deserializeResponse<Output>(
    _operation: object,
    context: { readonly streamCollector: (body: unknown) => Promise<Uint8Array> },
    { statusCode, headers, body }: Answer,
  ): Promise<Output> {
    const fields = readFields(await context.streamCollector(body));
    const requestId = headers['x-amzn-requestid'];
    const $metadata = { httpStatusCode: statusCode, ...(requestId !== undefined && { requestId }) };
    if (statusCode < 300 && fields !== undefined) return { ...fields, $metadata } as Output;
    // A proxy answered, not the service: it is unknown whether the request was carried out.
    const { __type, message, Message, ...others } = fields ?? { __type: 'InternalServerError' };
    const name = String(__type).split('#').at(-1) as string;
    const error = new DynamoDBServiceException({
      name,
      message: String(message ?? Message ?? `${TARGET} answered ${statusCode}`),
      $fault: statusCode < 500 ? 'client' : 'server',
      $metadata,
    });
    throw Object.assign(error, others, name === RETRYABLE && { $retryable: {} });
  },

  // The client asks for none of these.
  getRequestType: () => Object,
  getResponseType: () => Object,
  getPayloadCodec: () => undefined as never,
  updateServiceEndpoint: <R>(request: R): R => request,
};

/** The fields of a reply; undefined if it is not from the service. */
function readFields(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    const fields: unknown = JSON.parse(text);
    if (typeof fields !== 'object' || fields === null) return undefined;
    return fromWire(fields as Readonly<Record<string, unknown>>);
  } catch {
    return undefined;
  }
}

/**
 * The client of DynamoDB of a container, made once at module scope. Reads its endpoint and credentials from
 * the environment of Lambda (or the local cloud); the credential chain is left out of the bundle.
 */
export function tableClient(environment: Readonly<Record<string, string | undefined>>): Send {
  const client = new DynamoDBClient({
    ...clientOptions(environment, 'DYNAMODB'),
    protocol: jsonProtocol,
    // The chain of middlewares is put together once for each kind of command, and not for each command.
    cacheMiddleware: true,
  });
  return sendBy(client);
}

/** Sends our commands by a client with our protocol. */
export const sendBy =
  (client: DynamoDBClient): Send =>
  (command) =>
    client.send(command as Parameters<typeof client.send>[0]);
