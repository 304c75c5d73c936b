import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from '../../infra/local/loopback.ts';

/** Our application at the provider. The secret is that of every test run. */
export const CLIENT_ID = 'parlance';
export const CLIENT_SECRET = 'the oidc-client-secret of the tests';

type Claims = Readonly<Record<string, unknown>>;

/** A request that the provider got. */
interface Heard {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

type Answer = (heard: Heard, response: ServerResponse) => void;

/** How the provider makes the next ID tokens: what is given replaces what an honest provider would say. */
export interface TokenFaults {
  readonly claims?: Claims;
  readonly header?: Claims;
  readonly key?: KeyObject;
}

/** An OpenID Connect provider on this machine, which misbehaves on request. */
export interface OpenIdProvider {
  readonly issuer: string;
  readonly heard: Heard[];
  /** Answers a path in another way from now on; without an answer as before. */
  readonly behave: (path: string, answer?: Answer) => void;
  /** Makes other ID tokens from now on. */
  readonly misissue: (faults: TokenFaults) => void;
  /** The query of the redirect to us, after a user with these claims signs in. */
  readonly signIn: (url: URL, person: Claims) => Record<string, string>;
  readonly stop: () => void;
}

/** An answer in JSON. */
export const answer =
  (body: unknown, status = 200): Answer =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

export const newKeyPair = () => generateKeyPairSync('rsa', { modulusLength: 2048 });

/** A JSON Web Token signed by RS256. */
function jwt(header: Claims, claims: Claims, key: KeyObject): string {
  const parts = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return [...parts, sign('sha256', Buffer.from(parts.join('.')), key).toString('base64url')].join('.');
}

/** The credentials of a client, which are encoded like a form before they become HTTP Basic (RFC 6749, 2.3.1). */
function basicCredentials({ authorization = '' }: Heard): string {
  const decoded = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
  return decodeURIComponent(decoded.replaceAll('+', ' '));
}

/** What a code stands for. */
interface Grant {
  readonly person: Claims;
  readonly nonce: string;
  readonly challenge: string;
  readonly redirectUri: string;
}

const keys = newKeyPair();

export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  const heard: Heard[] = [];
  const special = new Map<string, Answer>();
  const codes = new Map<string, Grant>();
  let faults: TokenFaults = {};

  const idToken = ({ person, nonce }: Grant): string => {
    const now = Math.floor(Date.now() / 1000);
    const usual = { iss: issuer, aud: CLIENT_ID, sub: 'person', nonce, iat: now, exp: now + 300 };
    const header = { alg: 'RS256', kid: 'first', ...faults.header };
    return jwt(header, { ...usual, ...person, ...faults.claims }, faults.key ?? keys.privateKey);
  };

  const token: Answer = (request, response) => {
    const form = new URLSearchParams(request.body);
    const code = form.get('code') ?? '';
    const grant = codes.get(code);
    codes.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (basicCredentials(request) !== `${CLIENT_ID}:${CLIENT_SECRET}`) {
      return answer({ error: 'invalid_client' }, 401)(request, response);
    }
    if (grant?.challenge !== challenge || grant.redirectUri !== form.get('redirect_uri')) {
      return answer({ error: 'invalid_grant' }, 400)(request, response);
    }
    const body = { access_token: code, token_type: 'Bearer', expires_in: 60, id_token: idToken(grant) };
    answer(body)(request, response);
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    const one: Heard = { path, authorization: request.headers.authorization, body: await text(request) };
    heard.push(one);
    const usual: Readonly<Record<string, Answer>> = {
      '/.well-known/openid-configuration': answer(metadata),
      '/keys': answer({ keys: [{ ...keys.publicKey.export({ format: 'jwk' }), kid: 'first', use: 'sig' }] }),
      '/token': token,
    };
    const how = special.get(path) ?? usual[path] ?? answer({}, 404);
    how(one, response);
  };
  const server = createServer((request, response) => void respond(request, response));
  const issuer = (await listenOnLoopback(server, 0)).origin;
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    id_token_signing_alg_values_supported: ['RS256'],
  };
  return {
    issuer,
    heard,
    behave: (path, how) => (how ? special.set(path, how) : special.delete(path)),
    misissue: (others) => {
      faults = others;
    },
    signIn: ({ searchParams: asked }, person) => {
      const code = randomUUID();
      codes.set(code, {
        person,
        nonce: asked.get('nonce') ?? '',
        challenge: asked.get('code_challenge') ?? '',
        redirectUri: asked.get('redirect_uri') ?? '',
      });
      return { code, state: asked.get('state') ?? '' };
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
