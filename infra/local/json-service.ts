import { createServer, type IncomingMessage, type Server } from 'node:http';
import { json } from 'node:stream/consumers';

/** An error in the words of the service. */
export class ServiceError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

export type JsonService = Server;

type Operation = (request: Readonly<Record<string, unknown>>) => object;

/**
 * A service of AWS that speaks its JSON protocol, 1.1. It answers every caller, since the IAM proxy in front of it checks permissions.
 *
 * @param target The service's name in the header `X-Amz-Target`.
 */
export function createJsonService(
  target: string,
  operations: Readonly<Record<string, Operation>>,
): JsonService {
  return createServer(async (request, response) => {
    const [status, reply] = await answer(request, target, operations);
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(reply));
  });
}

async function answer(
  request: IncomingMessage,
  target: string,
  operations: Readonly<Record<string, Operation>>,
): Promise<[number, object]> {
  try {
    const [service, name = ''] = String(request.headers['x-amz-target']).split('.');
    const operation = service === target ? operations[name] : undefined;
    if (!operation) throw new ServiceError('UnknownOperationException', `There is no ${name} here.`);
    return [200, operation((await json(request)) as Readonly<Record<string, unknown>>)];
  } catch (error) {
    const { name, message } =
      error instanceof ServiceError ? error : new ServiceError('SerializationException', 'Not readable.');
    return [400, { __type: name, message }];
  }
}
