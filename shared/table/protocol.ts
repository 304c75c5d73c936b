import { DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { clientOptions } from '../aws/client-options.ts';
import type { Send } from './table.ts';

/** Where the client found its service. */
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

/** What stands before the name of an operation in `x-amz-target`. */
const TARGET = 'DynamoDB_20120810';
/** The one error that the client is to try again, and knows neither by its name nor by its status. */
const RETRYABLE = 'ReplicatedWriteConflictException';

/**
 * How the client speaks with DynamoDB (`application/x-amz-json-1.0`: JSON with bytes in base64), in place of its own way,
 * which walks a description of every type for each value. Both were measured in one process, in turns: with the client's
 * own way a warm request takes 1.2 times the processor time (register, poll), 1.25 (list of emoji), 1.27 (100 messages) or
 * 1.4 (send), and a send would miss its budget. The connection, signatures, retries and the way to the host stay the
 * client's.
 *
 * Errors have the name, message and fields that the service gives them, and one class: go by `name`.
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
    // Something on the way answered in words of its own: whether the request was carried out is not known.
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

/** Writes bytes as base64. Looks at the value itself, since a Buffer has an idea of its own of what it is in JSON. */
function withBase64(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const raw = this[name];
  return raw instanceof Uint8Array ? Buffer.from(raw).toString('base64') : value;
}

/** The fields of an answer; undefined for one that is none of the service's. */
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
 * Turns base64 back into bytes, in place. Only in an attribute's value there is text under `B`, or a list under `BS`:
 * under an attribute of such a name there is an object.
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
 * The document client of a container, made once at module scope. Reads its place and credentials from the
 * environment that Lambda (or the local cloud) gives; the credential chain is left out of the bundle.
 */
export function documentClient(environment: Readonly<Record<string, string | undefined>>): Send {
  const client = new DynamoDBClient({ ...clientOptions(environment, 'DYNAMODB'), protocol: jsonProtocol });
  const document = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  return (command) => document.send(command as Parameters<typeof document.send>[0]);
}
