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

/** What an error of the service is made of. */
interface Fault {
  readonly name: string;
  readonly message: string;
  readonly $fault: 'client' | 'server';
  readonly $metadata: object;
}

/** What is different from one service of AWS to the next. */
export interface Service {
  /** What stands before the name of an operation in `x-amz-target`. */
  readonly target: string;
  /** The class of the service's errors. */
  readonly Exception: new (
    fault: Fault,
  ) => Error;
  /** The one error, if any, that the client is to try again, and knows neither by its name nor by its status. */
  readonly retryable?: string;
  /** Makes of the JSON of an answer, in place, what it cannot say: bytes. */
  readonly revive?: (fields: unknown) => void;
}

/**
 * How clients speak with those services of AWS that take `application/x-amz-json-1.0`, which is JSON with bytes in
 * base64. It takes the place of the clients' own way, which goes by a description of every operation and type, and
 * knows dates, big numbers and streams that are never sent here: 43 KB of each function. The connection, signatures,
 * retries and the way to the right host stay the client's.
 *
 * Errors have the name, message and fields that the service gives them, and one class: go by `name`.
 */
export const jsonProtocolOf = ({ target, Exception, retryable, revive }: Service) => ({
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
        'x-amz-target': `${target}.${operation.name}`,
      },
      body: JSON.stringify(input, withBase64),
    };
  },

  async deserializeResponse<Output>(
    _operation: object,
    context: { readonly streamCollector: (body: unknown) => Promise<Uint8Array> },
    { statusCode, headers, body }: Answer,
  ): Promise<Output> {
    const fields = readFields(await context.streamCollector(body), revive);
    const requestId = headers['x-amzn-requestid'];
    const $metadata = { httpStatusCode: statusCode, ...(requestId !== undefined && { requestId }) };
    if (statusCode < 300 && fields !== undefined) return { ...fields, $metadata } as Output;
    // Something on the way answered in words of its own: whether the request was carried out is not known.
    const { __type, message, Message, ...others } = fields ?? { __type: 'InternalServerError' };
    const name = String(__type).split('#').at(-1) as string;
    const error = new Exception({
      name,
      message: String(message ?? Message ?? `${target} answered ${statusCode}`),
      $fault: statusCode < 500 ? 'client' : 'server',
      $metadata,
    });
    throw Object.assign(error, others, name === retryable && { $retryable: {} });
  },

  // The client asks for none of these.
  getRequestType: () => Object,
  getResponseType: () => Object,
  getPayloadCodec: () => undefined as never,
  updateServiceEndpoint: <R>(request: R): R => request,
});

/** Writes bytes as base64. Looks at the value itself, since a Buffer has an idea of its own of what it is in JSON. */
function withBase64(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const raw = this[name];
  return raw instanceof Uint8Array ? Buffer.from(raw).toString('base64') : value;
}

/** The fields of an answer; undefined for one that is none of the service's. */
function readFields(
  bytes: Uint8Array,
  revive: (fields: unknown) => void = () => {},
): Record<string, unknown> | undefined {
  try {
    const fields: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    revive(fields);
    return typeof fields === 'object' && fields !== null ? { ...fields } : undefined;
  } catch {
    return undefined;
  }
}
