import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretPost,
  customFetch,
  genericTokenEndpointRequest,
  OperationProcessingError,
  processGenericTokenEndpointResponse,
  ResponseBodyError,
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

/** HTTP Basic as providers implement it: without the percent-encoding that OAuth requires. */
const plainBasic =
  ({ clientId, clientSecret }: ConfiguredProvider): ClientAuth =>
  (_server, _client, _body, headers) => {
    headers.set('authorization', `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`);
  };

const authenticationOf = (provider: ConfiguredProvider): ClientAuth =>
  provider.authentication === 'basic' ? plainBasic(provider) : ClientSecretPost(provider.clientSecret);

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
export const exchangeCode = (
  provider: ConfiguredProvider,
  redirectUri: string,
  code: string,
  now: number,
): Promise<CallToken> =>
  requestToken(provider, 'authorization_code', { code, redirect_uri: redirectUri }, now).catch(
    (error: unknown) => {
      if (error instanceof ConsentGone) throw badRequest(`${provider.name} does not accept this consent.`);
      throw error;
    },
  );

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
  const token = await requestToken(provider, 'refresh_token', { refresh_token: refresh }, now);
  // Some providers keep the same refresh token and leave it out of the response.
  return { ...token, refresh: token.refresh ?? refresh };
}

const requestToken = (
  provider: ConfiguredProvider,
  grant: 'authorization_code' | 'refresh_token',
  parameters: Record<string, string>,
  now: number,
): Promise<CallToken> =>
  requestProvider(provider, async () => {
    const { oauthUrl, tokenPath, clientId } = provider;
    const server = { issuer: new URL(oauthUrl).origin, token_endpoint: below(oauthUrl, tokenPath).href };
    const client = { client_id: clientId };
    const authentication = authenticationOf(provider);
    const answer = await genericTokenEndpointRequest(server, client, authentication, grant, parameters, {
      // Requests go only to the URLs that the operator configured. In tests, one of them may lack TLS.
      [customFetch]: fetchFor(provider) as never,
      [allowInsecureRequests]: new URL(oauthUrl).protocol === 'http:',
    });
    // Every 4xx of a token endpoint is a rejection, except 429.
    if (answer.status >= 400 && answer.status < 500 && answer.status !== 429) throw new ConsentGone();
    const token = await processGenericTokenEndpointResponse(server, client, answer);
    const { access_token: access, refresh_token: refresh, expires_in: seconds } = token;
    const lifetime = seconds === undefined ? DEFAULT_TOKEN_LIFETIME_MS : seconds * 1000;
    return { access, refresh, expires: now + lifetime };
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
