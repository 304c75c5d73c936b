import { createServer } from 'node:http';
import Provider from 'oidc-provider';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import { CLIENT_ID, CLIENT_SECRET } from './openid-provider.ts';

/** A real provider of OpenID Connect on this machine, at which everybody can sign in with any password. */
export interface CertifiedProvider {
  readonly issuer: string;
  readonly stop: () => void;
}

/**
 * Starts the provider. Somebody who signs in there as `member` has the address `member@example.com`.
 *
 * @param redirectUri where it may send people back: at a loopback address to any port (RFC 8252, 7.3)
 */
export async function startCertifiedProvider(redirectUri: string): Promise<CertifiedProvider> {
  const server = createServer();
  const issuer = (await listenOnLoopback(server, 0)).origin;
  const claims = (sub: string) => ({
    sub,
    email: `${sub}@example.com`,
    email_verified: true,
    name: sub,
  });
  const client = { client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [redirectUri] };
  const provider = new Provider(issuer, {
    clients: [{ ...client, application_type: 'native' }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_: object, sub: string) => ({ accountId: sub, claims: () => claims(sub) }),
    cookies: { keys: ['only for tests'] },
  });
  server.on('request', provider.callback());
  return {
    issuer,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Signs in at the provider as a browser does, and returns the query that comes back to `redirectUri`. */
export async function signInThere(
  begin: URL,
  login: string,
  redirectUri: string,
): Promise<Record<string, string>> {
  const cookies = new Map<string, string>();
  let next = begin;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 20; step++) {
    const response = await fetch(next, {
      method: form ? 'POST' : 'GET',
      ...(form && { body: form }),
      redirect: 'manual',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
    });
    for (const header of response.headers.getSetCookie()) {
      const [name = '', value = ''] = header.split(';')[0]?.split('=') ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    const text = await response.text();
    if (location !== null) {
      next = new URL(location, next);
      form = undefined;
      if (next.href.startsWith(redirectUri)) return Object.fromEntries(next.searchParams);
      continue;
    }
    const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1];
    if (prompt === undefined) throw new Error(`the provider shows something else: ${text.slice(0, 500)}`);
    form = new URLSearchParams({ prompt, ...(prompt === 'login' && { login, password: 'any' }) });
  }
  throw new Error('the provider never sends the browser back');
}
