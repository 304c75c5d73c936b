import {
  AuthorizationResponseError,
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  ClientSecretBasic,
  ClientSecretPost,
  calculatePKCECodeChallenge,
  clockSkew,
  clockTolerance,
  customFetch,
  discoveryRequest,
  getValidatedIdTokenClaims,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  processUserInfoResponse,
  ResponseBodyError,
  userInfoRequest,
  validateApplicationLevelSignature,
  validateAuthResponse,
} from 'oauth4webapi';
import { outgoing } from '../../http/outgoing.ts';
import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { Provider, ProviderMemory } from './provider.ts';

/** How long the provider may take for one response, ms. */
const TIMEOUT_MS = 5_000;

/** How long the metadata of the provider is used, ms. */
const METADATA_MS = 60 * 60_000;

/** How far the clock of the provider may be off, s. */
const CLOCK_TOLERANCE_SECONDS = 30;

/** Asks the provider, and nobody else. */
export interface Asking {
  readonly outside: Pick<Outside, 'now' | 'report'>;
  readonly provider: Provider;
  readonly memory: ProviderMemory;
}

/** What a provider says about a person, not checked yet. */
export interface Claims {
  readonly email?: unknown;
  readonly emailVerified?: unknown;
  readonly name?: unknown;
}

/** A person who comes back from the provider, with what they were sent there with. */
export interface Return {
  readonly parameters: Readonly<Record<string, string>>;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

/**
 * The URL of the provider's sign-in page (OpenID Connect Core 1.0, 3.1.2.1; RFC 7636 for PKCE).
 *
 * @throws Refusal if the provider does not answer properly
 */
export function signInUrl(
  asking: Asking,
  { state, nonce, verifier, redirectUri }: Omit<Return, 'parameters'>,
): Promise<URL> {
  return askProvider(asking, async () => {
    const server = await loadMetadata(asking);
    const url = new URL(server.authorization_endpoint ?? '');
    if (url.protocol !== 'https:' && url.origin !== new URL(asking.provider.issuer).origin) {
      throw new TypeError('the authorization endpoint has no TLS');
    }
    const parameters = {
      response_type: 'code',
      client_id: asking.provider.clientId,
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url;
  });
}

/**
 * Exchanges the code that came back for what the provider says about the person. The issuer, audience, signature, expiry
 * and nonce of the ID token are checked (OpenID Connect Core 1.0, 3.1.3.7).
 *
 * @throws Refusal if the person did not sign in there, or if the provider does not answer properly
 */
export function loadClaims(asking: Asking, back: Return): Promise<Claims> {
  return askProvider(asking, async () => {
    const { provider, outside } = asking;
    const server = await loadMetadata(asking);
    const client: Client = {
      client_id: provider.clientId,
      [clockSkew]: Math.round((outside.now() - Date.now()) / 1000),
      [clockTolerance]: CLOCK_TOLERANCE_SECONDS,
    };
    const options = requestOptions(provider);
    const parameters = validateAuthResponse(server, client, new URLSearchParams(back.parameters), back.state);
    const answer = await authorizationCodeGrantRequest(
      server,
      client,
      authenticationOf(provider, server),
      parameters,
      back.redirectUri,
      back.verifier,
      options,
    );
    const tokens = await processAuthorizationCodeResponse(server, client, answer, {
      expectedNonce: back.nonce,
      requireIdToken: true,
    });
    await validateApplicationLevelSignature(server, answer, options);
    const claims = getValidatedIdTokenClaims(tokens);
    if (claims === undefined) throw new TypeError('there is no ID token');
    if (claims.email !== undefined || server.userinfo_endpoint === undefined) return claimsOf(claims);
    // Many providers put the address into the ID token only if no access token is asked for.
    const userInfo = await userInfoRequest(server, client, tokens.access_token, options);
    return claimsOf(await processUserInfoResponse(server, client, claims.sub, userInfo));
  });
}

const claimsOf = (claims: Readonly<Record<string, unknown>>): Claims => ({
  email: claims.email,
  emailVerified: claims.email_verified,
  name: claims.name,
});

/** The provider's metadata, from memory if it is there. At most one request to the provider. */
async function loadMetadata({ outside, provider, memory }: Asking): Promise<AuthorizationServer> {
  if (memory.metadata && memory.metadata.until > outside.now()) return memory.metadata.server;
  const issuer = new URL(provider.issuer);
  const answer = await discoveryRequest(issuer, requestOptions(provider));
  const server = await processDiscoveryResponse(issuer, answer);
  memory.metadata = { server, until: outside.now() + METADATA_MS };
  return server;
}

/** Only the issuer may be without TLS, or at an address that is not public: the operator configured it. */
const requestOptions = ({ issuer }: Provider) => ({
  [customFetch]: outgoing({ addresses: [issuer], mayAskPublic: true, timeout: TIMEOUT_MS }) as never,
  [allowInsecureRequests]: new URL(issuer).protocol === 'http:',
});

/**
 * How we authenticate: in the form if the provider says that it supports that, since providers disagree on how a secret is
 * encoded for HTTP Basic. If it says nothing, it supports HTTP Basic (OpenID Connect Discovery 1.0, 3).
 */
function authenticationOf({ clientSecret }: Provider, server: AuthorizationServer) {
  const supported = server.token_endpoint_auth_methods_supported ?? [];
  return supported.includes('client_secret_post')
    ? ClientSecretPost(clientSecret)
    : ClientSecretBasic(clientSecret);
}

/**
 * Asks the provider. Whatever it answers that makes no sense becomes one clear refusal, with a line for the operator. The
 * messages of the library name what is wrong, and hold no tokens.
 */
async function askProvider<T>({ outside, provider }: Asking, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AuthorizationResponseError) throw badRequest('The sign-in was not completed.');
    const problem = error instanceof ResponseBodyError ? error.error : (error as Error).message;
    outside.report({
      level: 'WARN',
      message: 'the provider of single sign-on did not answer properly',
      problem,
    });
    throw badRequest(`${provider.name} did not answer properly. Please try again later.`);
  }
}
