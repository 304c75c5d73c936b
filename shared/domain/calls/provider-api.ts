import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type ClientAuth,
  ClientSecretPost,
  customFetch,
  nopkce,
  OperationProcessingError,
  processAuthorizationCodeResponse,
  processRefreshTokenResponse,
  ResponseBodyError,
  refreshTokenGrantRequest,
  type TokenEndpointResponse,
  validateAuthResponse,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi';
import { outgoing, Unreachable } from '../../http/outgoing.ts';
import { badRequest } from '../../kernel/errors.ts';
import { type AskedMeeting, below, type ConfiguredProvider } from './provider.ts';
import type { CallToken } from './token.ts';

/** How long a provider may take for one response, ms (wire facts 2). */
const TIMEOUT_MS = 5_000;

/** Assumed lifetime of a token whose response has no `expires_in`, ms. */
const DEFAULT_TOKEN_LIFETIME_MS = 10 * 60_000;

/** Longest meeting URL that we accept, in characters. */
const MAX_URL_LENGTH = 2_048;

/** The provider rejects the token: the person has withdrawn the consent, or the token is unknown. */
export class ConsentGone extends Error {
  constructor() {
    super('the provider does not accept the token');
    this.name = 'ConsentGone';
  }
}

const fetchFor = ({ oauthUrl, apiUrl }: ConfiguredProvider): typeof fetch =>
  outgoing({ addresses: [oauthUrl, apiUrl], timeout: TIMEOUT_MS });

const serverOf = ({ oauthUrl, tokenPath }: ConfiguredProvider): AuthorizationServer => ({
  issuer: new URL(oauthUrl).origin,
  token_endpoint: below(oauthUrl, tokenPath).href,
});

/** HTTP Basic as providers implement it: without the percent-encoding that OAuth requires. */
const plainBasic =
  ({ clientId, clientSecret }: ConfiguredProvider): ClientAuth =>
  (_server, _client, _body, headers) => {
    headers.set('authorization', `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`);
  };

const authenticationOf = (provider: ConfiguredProvider): ClientAuth =>
  provider.authentication === 'basic' ? plainBasic(provider) : ClientSecretPost(provider.clientSecret);

/** Requests go only to the URLs that the operator configured. In tests, one of them may lack TLS. */
const optionsOf = (provider: ConfiguredProvider) => ({
  [customFetch]: fetchFor(provider) as never,
  [allowInsecureRequests]: new URL(provider.oauthUrl).protocol === 'http:',
});

/** The URL of the provider's consent page. */
export function consentUrl(provider: ConfiguredProvider, redirectUri: string, state: string): URL {
  const url = below(provider.oauthUrl, provider.authorizePath);
  url.searchParams.set('response_type', 'code');
  url.searchParams.set('client_id', provider.clientId);
  url.searchParams.set('redirect_uri', redirectUri);
  url.searchParams.set('state', state);
  if (provider.scope) url.searchParams.set('scope', provider.scope);
  return url;
}

/**
 * Exchanges the authorization code for a token.
 *
 * @throws Refusal if the code is not valid, or if the provider does not answer properly.
 */
export async function exchangeCode(
  provider: ConfiguredProvider,
  redirectUri: string,
  code: string,
  now: number,
): Promise<CallToken> {
  const [server, client] = [serverOf(provider), { client_id: provider.clientId }];
  // The state has been checked already (`openCallState`).
  const parameters = validateAuthResponse(server, client, new URLSearchParams({ code }));
  return requestProvider(provider, async () => {
    const answer = await authorizationCodeGrantRequest(
      server,
      client,
      authenticationOf(provider),
      parameters,
      redirectUri,
      nopkce,
      optionsOf(provider),
    );
    checkAccepted(answer);
    return tokenOf(await processAuthorizationCodeResponse(server, client, answer), now);
  }).catch((error: unknown) => {
    if (error instanceof ConsentGone) throw badRequest(`${provider.name} does not accept this consent.`);
    throw error;
  });
}

/**
 * Refreshes a token at the provider.
 *
 * @throws ConsentGone if the provider rejects the refresh token.
 * @throws Refusal if the provider does not answer properly: the old token may still be valid.
 */
export async function refreshToken(
  provider: ConfiguredProvider,
  { refresh }: CallToken,
  now: number,
): Promise<CallToken> {
  if (refresh === undefined) throw new ConsentGone();
  const [server, client] = [serverOf(provider), { client_id: provider.clientId }];
  const token = await requestProvider(provider, async () => {
    const answer = await refreshTokenGrantRequest(
      server,
      client,
      authenticationOf(provider),
      refresh,
      optionsOf(provider),
    );
    checkAccepted(answer);
    return tokenOf(await processRefreshTokenResponse(server, client, answer), now);
  });
  // Some providers keep the same refresh token and leave it out of the response.
  return { ...token, refresh: token.refresh ?? refresh };
}

/** Treats every 4xx of a token endpoint as a rejection, except 429. */
function checkAccepted({ status }: Response): void {
  if (status >= 400 && status < 500 && status !== 429) throw new ConsentGone();
}

const tokenOf = (answer: TokenEndpointResponse, now: number): CallToken => ({
  access: answer.access_token,
  refresh: answer.refresh_token,
  expires: now + (answer.expires_in === undefined ? DEFAULT_TOKEN_LIFETIME_MS : answer.expires_in * 1000),
});

/**
 * Creates a meeting at the provider and returns its URL.
 *
 * @throws ConsentGone if the provider rejects the token.
 * @throws Refusal if the provider does not answer properly.
 */
export async function createMeeting(
  provider: ConfiguredProvider,
  { access }: CallToken,
  asked: AskedMeeting,
): Promise<string> {
  return requestProvider(provider, async () => {
    const answer = await fetchFor(provider)(below(provider.apiUrl, provider.createPath), {
      method: 'POST',
      headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
      body: JSON.stringify(provider.meeting(asked)),
    });
    if (answer.status === 401) throw new ConsentGone();
    if (!answer.ok) throw new OperationProcessingError(`status ${answer.status}`);
    return meetingUrl(await answer.json(), provider.urlField);
  });
}

/** The meeting's URL in the provider's response. People click on it, so only `http` and `https` are accepted. */
function meetingUrl(answer: unknown, field: string): string {
  const url =
    typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>)[field] : undefined;
  if (typeof url !== 'string' || url.length > MAX_URL_LENGTH || !URL.canParse(url))
    throw new SyntaxError('no address');
  if (!['https:', 'http:'].includes(new URL(url).protocol)) throw new SyntaxError('no web address');
  return url;
}

/** Runs a request to a provider. Turns every fault of the provider into one clear refusal. */
async function requestProvider<T>(provider: ConfiguredProvider, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    const isTheirs = [
      Unreachable,
      OperationProcessingError,
      ResponseBodyError,
      WWWAuthenticateChallengeError,
      SyntaxError,
    ].some((kind) => error instanceof kind);
    if (isTheirs) throw badRequest(`${provider.name} did not answer properly. Please try again later.`);
    throw error;
  }
}
