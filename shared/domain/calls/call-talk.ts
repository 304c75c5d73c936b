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
import { type AskedMeeting, below, type ConfiguredProvider } from './call-provider.ts';
import type { CallToken } from './call-token.ts';

/** The longest that a provider may take for one answer, ms (wire facts 2). */
const TIMEOUT = 5_000;

/** How long a token is good whose end nobody told, ms: not long. */
const SHORT = 10 * 60_000;

/** The longest address of a meeting. */
const LONGEST_URL = 2_048;

/** The provider took the person's consent back, or does not know the token any more. */
export class ConsentGone extends Error {
  constructor() {
    super('the provider does not accept the token');
    this.name = 'ConsentGone';
  }
}

const fetchFor = ({ oauthUrl, apiUrl }: ConfiguredProvider): typeof fetch =>
  outgoing({ addresses: [oauthUrl, apiUrl], timeout: TIMEOUT });

const serverOf = ({ oauthUrl, tokenPath }: ConfiguredProvider): AuthorizationServer => ({
  issuer: new URL(oauthUrl).origin,
  token_endpoint: below(oauthUrl, tokenPath).href,
});

/** HTTP Basic as providers really read it: without the percent-encoding that OAuth asks for first. */
const plainBasic =
  ({ clientId, clientSecret }: ConfiguredProvider): ClientAuth =>
  (_server, _client, _body, headers) => {
    headers.set('authorization', `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`);
  };

const authenticationOf = (provider: ConfiguredProvider): ClientAuth =>
  provider.authentication === 'basic' ? plainBasic(provider) : ClientSecretPost(provider.clientSecret);

/** Only the addresses that the operator configured are asked; one of them may be without TLS, as in tests. */
const optionsOf = (provider: ConfiguredProvider) => ({
  [customFetch]: fetchFor(provider) as never,
  [allowInsecureRequests]: new URL(provider.oauthUrl).protocol === 'http:',
});

/** Where a person is sent to give their consent. */
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
 * Turns the code that came back from the provider into a token.
 *
 * @throws Refusal where the person did not consent, the code is not good, or the provider does not answer properly.
 */
export async function exchangeCode(
  provider: ConfiguredProvider,
  redirectUri: string,
  code: string,
  now: number,
): Promise<CallToken> {
  const [server, client] = [serverOf(provider), { client_id: provider.clientId }];
  // The state was checked before: it is sealed, and tells whose consent this is.
  const parameters = validateAuthResponse(server, client, new URLSearchParams({ code }));
  return talk(provider, async () => {
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
 * Has the provider give a new token for an old one.
 *
 * @throws ConsentGone where it refuses to.
 * @throws Refusal where it does not answer properly: the old token may still be good.
 */
export async function refreshToken(
  provider: ConfiguredProvider,
  { refresh }: CallToken,
  now: number,
): Promise<CallToken> {
  if (refresh === undefined) throw new ConsentGone();
  const [server, client] = [serverOf(provider), { client_id: provider.clientId }];
  const token = await talk(provider, async () => {
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
  // Some providers go on with the same refresh token and do not say it again.
  return { ...token, refresh: token.refresh ?? refresh };
}

/** A token endpoint that answers with 4xx says no, in whatever words; unless it is only too busy for us. */
function checkAccepted({ status }: Response): void {
  if (status >= 400 && status < 500 && status !== 429) throw new ConsentGone();
}

const tokenOf = (answer: TokenEndpointResponse, now: number): CallToken => ({
  access: answer.access_token,
  refresh: answer.refresh_token,
  expires: now + (answer.expires_in === undefined ? SHORT : answer.expires_in * 1000),
});

/**
 * Has the provider make a meeting, and tells its address.
 *
 * @throws ConsentGone where the token is not accepted.
 * @throws Refusal where the provider does not answer properly.
 */
export async function createMeeting(
  provider: ConfiguredProvider,
  { access }: CallToken,
  asked: AskedMeeting,
): Promise<string> {
  return talk(provider, async () => {
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

/** The address in a provider's answer. People will click on it, so it is nothing but a web address. */
function meetingUrl(answer: unknown, field: string): string {
  const url =
    typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>)[field] : undefined;
  if (typeof url !== 'string' || url.length > LONGEST_URL || !URL.canParse(url))
    throw new SyntaxError('no address');
  if (!['https:', 'http:'].includes(new URL(url).protocol)) throw new SyntaxError('no web address');
  return url;
}

/** Talks to a provider: whatever is wrong with its answers becomes one clear refusal, and a refused token is known. */
async function talk<T>(provider: ConfiguredProvider, conversation: () => Promise<T>): Promise<T> {
  try {
    return await conversation();
  } catch (error) {
    const isTheirs = [
      Unreachable,
      OperationProcessingError,
      ResponseBodyError,
      WWWAuthenticateChallengeError,
      SyntaxError,
    ].some((kind) => error instanceof kind);
    if (isTheirs) throw badRequest(`${provider.name} could not be asked for this; please try again later.`);
    throw error;
  }
}
