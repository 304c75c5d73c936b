import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Endpoint } from '../../shared/endpoints/endpoint.ts';
import { problems } from '../../shared/kernel/errors.ts';
import { checkReply } from '../support/declared.ts';
import type { Secret } from './secrets.ts';

const unpacked = promisify(gunzip);

/** The text of a reply, as its client reads it. */
export async function textOf({ body, headers, isBase64Encoded }: APIGatewayProxyResult): Promise<string> {
  if (!isBase64Encoded) return body;
  const bytes = Buffer.from(body, 'base64');
  return (headers?.['Content-Encoding'] === 'gzip' ? await unpacked(bytes) : bytes).toString();
}

const statuses = Map.groupBy(Object.values(problems), ({ code }) => code as string);

/** What is wrong with a reply by itself: a fault of ours, no envelope, or something that is not declared. */
export function faultOf(endpoint: Endpoint, status: number, text: string): string | undefined {
  if (endpoint.serves !== undefined && status < 400) return undefined;
  // To a browser a file is refused by a page or a picture.
  if (endpoint.isPage) return status >= 500 ? `answers ${status}` : undefined;
  let body: Record<string, unknown>;
  try {
    body = JSON.parse(text);
  } catch {
    return 'answers with something else than JSON';
  }
  try {
    checkReply(endpoint, { status, body });
  } catch (error) {
    return `breaks its declaration: ${(error as Error).message.slice(0, 600)}`;
  }
  if (body.code === 'INTERNAL_SERVER_ERROR') return `answers ${status}`;
  const known = statuses.get(String(body.code))?.map((problem) => problem.status);
  if (status !== 200 && !known?.includes(status)) return `answers ${status} with ${body.code}`;
  return undefined;
}

/** Data in a reply that its reader may not see. Data of their own request is allowed. */
export function leakOf(
  secrets: readonly Secret[],
  reply: string,
  request: string,
  realm: string | undefined,
): string | undefined {
  const told = secrets.find(
    (secret) =>
      !(secret.isCommon && secret.realm === realm) &&
      reply.includes(secret.mark) &&
      !request.includes(secret.mark),
  );
  return told && `reveals ${told.what}`;
}
