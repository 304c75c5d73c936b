import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from '../../infra/local/loopback.ts';

/** A notification as the relay gets it, for either kind of telephone. */
export interface PushRequest {
  readonly token_id: string;
  readonly fcm_priority?: string;
  readonly http_headers?: object;
  readonly payload: { readonly push_key_id: number; readonly encrypted_data: string; readonly aps?: object };
}

/** A request that the relay got. */
export interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answer = (response: ServerResponse, asked: Asked) => void;

/** A relay on loopback, which accepts everything, and misbehaves on request. */
export interface FakeRelay {
  readonly address: string;
  readonly asked: Asked[];
  /** The requests that were to reach telephones, each with its notifications. */
  readonly sent: () => PushRequest[][];
  /** Answers in another way from now on; without an answer as before. */
  behave: (answer?: Answer) => void;
  readonly stop: () => void;
}

export const json =
  (status: number, body: object): Answer =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** What the relay says of notifications that it took. */
export const taken = (more: object = {}): Answer =>
  json(200, {
    result: 'success',
    msg: '',
    android_successfully_sent_count: 0,
    apple_successfully_sent_count: 0,
    delete_token_ids: [],
    realm_push_status: { can_push: true, expected_end_timestamp: null },
    ...more,
  });

/** How the relay says no. */
export const refused = (code: string, status = 400): Answer =>
  json(status, { result: 'error', msg: 'No.', code });

const NOTIFY = '/api/v1/remotes/push/e2ee/notify';

export async function startRelay(): Promise<FakeRelay> {
  const asked: Asked[] = [];
  let special: Answer | undefined;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const one: Asked = { path: request.url ?? '', headers: request.headers, body: await text(request) };
    asked.push(one);
    (special ?? (one.path === NOTIFY ? taken() : json(200, { result: 'success', msg: '' })))(response, one);
  };
  const server = createServer((request, response) => void answer(request, response).catch(() => {}));
  const { origin } = await listenOnLoopback(server, 0);
  return {
    address: origin,
    asked,
    sent: () => asked.filter(({ path }) => path === NOTIFY).map(({ body }) => JSON.parse(body).push_requests),
    behave: (how) => {
      special = how;
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
