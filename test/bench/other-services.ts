import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

/** Requests to AWS besides those to the table, by service. */
export type OtherRequests = Readonly<Record<string, number>>;

const SERVICES: Readonly<Record<string, string>> = {
  AmazonSQS: 'SQS',
  TrentService: 'KMS',
  secretsmanager: 'Secrets Manager',
};

const counts = new AsyncLocalStorage<Record<string, number>>();

/** Reports a request that was just made to the present counter. */
function note(message: unknown): void {
  const counted = counts.getStore();
  const { request } = message as { readonly request: ClientRequest };
  const [header = ''] = [request.getHeader('x-amz-target')];
  const target = String(header);
  const isSigned = String(request.getHeader('authorization') ?? '').startsWith('AWS4');
  if (!counted || !isSigned || target.startsWith('DynamoDB')) return;
  const service = SERVICES[target.split('.', 1)[0] ?? ''] ?? 'S3';
  counted[service] = (counted[service] ?? 0) + 1;
}

let isListening = false;

/** Counts what something asks of SQS, S3, KMS and Secrets Manager, whatever else runs beside it. */
export async function countingOthers<T>(work: () => Promise<T>): Promise<[T, OtherRequests]> {
  if (!isListening) subscribe('http.client.request.created', note);
  isListening = true;
  const counted: Record<string, number> = {};
  const result = await counts.run(counted, work);
  return [result, counted];
}
