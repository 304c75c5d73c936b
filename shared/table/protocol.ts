import { DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { clientOptions } from '../aws/client-options.ts';
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
 * SDK, which walks a schema for each value. Measured in one process, in turns, a warm request with the SDK's serializer takes
 * 1.2 times the processor time (register, poll), 1.25 (list of emoji), 1.27 (100 messages) or 1.4 (send), and a send would
 * exceed its budget. Connections, signatures, retries and endpoint resolution stay with the SDK.
 *
 * Errors have the name, message and fields of the service, and all have one class: tell them apart by `name`.
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
      body: JSON.stringify(input, withBase64),
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

/** Writes bytes as base64. Reads the raw value, because `Buffer` has a `toJSON` of its own. */
function withBase64(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const raw = this[name];
  return raw instanceof Uint8Array ? Buffer.from(raw).toString('base64') : value;
}

/** The fields of a reply; undefined if it is not from the service. */
function readFields(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const fields: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    readBytes(fields);
    return typeof fields === 'object' && fields !== null ? { ...fields } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Decodes base64, in place. Text under `B` and a list under `BS` are always values; an attribute with such a name holds an
 * object.
 */
function readBytes(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const fields = value as Record<string, unknown>;
  for (const [name, field] of Object.entries(fields)) {
    if (name === 'B' && typeof field === 'string') fields.B = fromBase64(field);
    else if (name === 'BS' && Array.isArray(field)) fields.BS = field.map(fromBase64);
    else readBytes(field);
  }
}

const fromBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));

/**
 * The document client of a container, made once at module scope. Reads its endpoint and credentials from
 * the environment of Lambda (or the local cloud); the credential chain is left out of the bundle.
 */
export function documentClient(environment: Readonly<Record<string, string | undefined>>): Send {
  const client = new DynamoDBClient({ ...clientOptions(environment, 'DYNAMODB'), protocol: jsonProtocol });
  const document = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  return (command) => document.send(command as Parameters<typeof document.send>[0]);
}
