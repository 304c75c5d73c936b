import { createServer, type ServerResponse, request as send } from 'node:http';
import { inject } from 'vitest';
import { listenOnLoopback } from '../../infra/local/loopback.ts';

/** What a request meets instead of the store. */
export type Mishap = (reply: ServerResponse) => void;

/** An answer that DynamoDB gives in bad hours. */
export const failed =
  (status: number, type: string): Mishap =>
  (reply) => {
    reply.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
    reply.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'Not now.' }));
  };

/**
 * A way to the store of this run, over HTTP, so that the real client meets the mishaps. `meets` says which one a request
 * meets, by its operation (`PutItem`); without it, or where it says nothing, the next one of `mishaps` does.
 */
export async function newWay(meets?: (operation: string) => Mishap | undefined) {
  const server = createServer((asked, reply) => {
    way.requests += 1;
    const operation = String(asked.headers['x-amz-target']).split('.')[1] ?? '';
    const mishap = meets?.(operation) ?? way.mishaps.shift();
    if (mishap) return mishap(reply);
    const { method, headers } = asked;
    asked.pipe(
      send(inject('dynamodb'), { method, headers }, (answer) => {
        reply.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(reply);
      }),
    );
  });
  const way = {
    endpoint: (await listenOnLoopback(server, 0)).href,
    mishaps: [] as Mishap[],
    requests: 0,
    close: () => server.close().closeAllConnections(),
  };
  return way;
}
