import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from '../../infra/local/loopback.ts';

/** A request that the provider got. */
export interface Heard {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

type Answer = (request: Heard, response: ServerResponse) => void;

/** A service of another company: speaks OAuth and creates meetings, and misbehaves on request. */
export interface Provider {
  readonly address: string;
  readonly heard: Heard[];
  /** Answers a path, whatever its query, in another way from now on; without an answer as before. */
  readonly behave: (path: string, answer?: Answer) => void;
  /** Takes every token back that it ever gave. */
  readonly revoke: () => void;
  readonly stop: () => void;
}

const json = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** Starts a provider whose access tokens are good for so many seconds. A refresh token is good for once. */
export async function startProvider(seconds = 3600): Promise<Provider> {
  const heard: Heard[] = [];
  const special = new Map<string, Answer>();
  let count = 0;
  let accesses = new Set<string>();
  let refreshes = new Set<string>();
  const grant = (response: ServerResponse): void => {
    count++;
    accesses.add(`access-${count}`);
    refreshes.add(`refresh-${count}`);
    const tokens = { access_token: `access-${count}`, refresh_token: `refresh-${count}` };
    json(response, 200, { ...tokens, token_type: 'bearer', expires_in: seconds });
  };
  const token: Answer = ({ body }, response) => {
    const form = new URLSearchParams(body);
    const refresh = form.get('refresh_token') ?? '';
    const good =
      form.get('grant_type') === 'refresh_token' ? refreshes.delete(refresh) : form.get('code') === 'good';
    if (good) grant(response);
    else json(response, 400, { error: 'invalid_grant' });
  };
  const meeting =
    (field: string): Answer =>
    ({ authorization = '' }, response) => {
      if (!accesses.has(authorization.replace('Bearer ', '')))
        return json(response, 401, { message: 'expired' });
      json(response, 201, { id: 1, [field]: 'https://meet.example.com/j/1?pwd=x' });
    };
  const usual: Readonly<Record<string, Answer>> = {
    '/oauth/token': token,
    '/v1/access_token': token,
    '/v2/users/me/meetings': meeting('join_url'),
    '/v1/meetings': meeting('webLink'),
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    const one: Heard = { path, authorization: request.headers.authorization, body: await text(request) };
    heard.push(one);
    const [place = ''] = path.split('?');
    const how = special.get(place) ?? usual[place];
    if (how) how(one, response);
    else json(response, 404, {});
  };
  const server = createServer((request, response) => void answer(request, response));
  const { origin } = await listenOnLoopback(server, 0);
  return {
    address: origin,
    heard,
    behave: (path, how) => (how ? special.set(path, how) : special.delete(path)),
    revoke: () => {
      accesses = new Set();
      refreshes = new Set();
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
