import { createServer, request } from 'node:http';
import { listenOnLoopback } from '../../infra/local/loopback.ts';

/** What becomes of a request: it is answered, refused, cut off in the middle of its body, or done but not answered. */
export type Fate = 'pass' | 'refuse' | 'cut' | 'lose';

/** A request as the store sees it. */
export interface Asked {
  readonly method: string;
  readonly url: string;
}

export interface FaultyStore {
  readonly url: string;
  readonly close: () => void;
}

/** Stands before a store (SQS and S3) and lets each request have its fate. */
export async function startFaultyStore(behind: string, fateOf: (asked: Asked) => Fate): Promise<FaultyStore> {
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const fate = fateOf({ method, url });
    if (fate === 'refuse') {
      incoming.resume();
      outgoing.writeHead(503).end();
      return;
    }
    if (fate === 'cut') {
      // Some of the body has come by then.
      incoming.once('data', () => incoming.destroy());
      return;
    }
    const onward = request(new URL(url, behind), { method, headers }, (answer) => {
      if (fate === 'lose') {
        answer.resume().on('end', () => outgoing.destroy());
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  const { origin } = await listenOnLoopback(server, 0);
  return {
    url: origin,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
