import type { Environment } from '../../environment.ts';
import { badRequest } from '../../kernel/errors.ts';

/** A provider of video calls in which each person has an account of their own (wire facts 13). */
export interface CallProvider {
  readonly name: 'zoom' | 'webex';
  /** The secret of the operator's application. */
  readonly secret: string;
  readonly authorizePath: string;
  readonly tokenPath: string;
  readonly createPath: string;
  readonly scope: string | undefined;
  /** How the application authenticates at the token endpoint. */
  readonly authentication: 'basic' | 'post';
  /** The body of the request that creates a meeting. */
  readonly meeting: (asked: AskedMeeting) => object;
  /** The field of the answer that holds the meeting's address. */
  readonly urlField: string;
}

/** The details of a meeting to create. */
export interface AskedMeeting {
  readonly title: string;
  readonly isVideoCall: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Five letters. */
  readonly password: string;
}

/** Duration of a meeting at Webex, ms. */
const MEETING_DURATION_MS = 40 * 60_000;

export const callProviders = {
  zoom: {
    name: 'zoom',
    secret: 'zoom-client-secret',
    authorizePath: '/oauth/authorize',
    tokenPath: '/oauth/token',
    createPath: '/v2/users/me/meetings',
    scope: undefined,
    authentication: 'basic',
    meeting: ({ isVideoCall }) => ({
      settings: { host_video: isVideoCall, participant_video: isVideoCall },
      default_password: true,
    }),
    urlField: 'join_url',
  },
  webex: {
    name: 'webex',
    secret: 'webex-client-secret',
    authorizePath: '/v1/authorize',
    tokenPath: '/v1/access_token',
    createPath: '/v1/meetings',
    scope: 'meeting:schedules_read meeting:schedules_write',
    authentication: 'post',
    meeting: ({ title, password, now }) => ({
      title,
      password,
      start: new Date(now).toISOString(),
      end: new Date(now + MEETING_DURATION_MS).toISOString(),
      enabledAutoRecordMeeting: false,
      allowAnyUserToBeCoHost: false,
    }),
    urlField: 'webLink',
  },
} as const satisfies Readonly<Record<string, CallProvider>>;

export type CallProviderName = keyof typeof callProviders;

/** The provider as the operator set it up. */
export interface ConfiguredProvider extends CallProvider {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Serves the consent page and the token endpoint. */
  readonly oauthUrl: string;
  readonly apiUrl: string;
}

/**
 * Returns the provider of this name, as the operator has configured it.
 *
 * @throws Refusal if the provider is unknown or not configured (wire facts 13.2).
 */
export async function accessProvider(
  environment: Environment,
  secrets: { readonly get: (name: string) => Promise<string | undefined> },
  name: string,
): Promise<ConfiguredProvider> {
  if (!Object.hasOwn(callProviders, name)) throw badRequest('This video call provider does not exist.');
  const provider: CallProvider = callProviders[name as CallProviderName];
  const prefix = provider.name.toUpperCase();
  const [clientId, oauthUrl, apiUrl] = ['CLIENT_ID', 'OAUTH_URL', 'API_URL'].map(
    (part) => environment[`${prefix}_${part}`],
  );
  const clientSecret = clientId ? await secrets.get(provider.secret) : undefined;
  if (!clientId || !clientSecret || !oauthUrl || !apiUrl) {
    throw badRequest(`Video calls by ${provider.name} are not set up on this server.`);
  }
  return { ...provider, clientId, clientSecret, oauthUrl, apiUrl };
}

/** Appends a path to a base URL that may have a path of its own. */
export const below = (base: string, path: string): URL => new URL(base.replace(/\/+$/, '') + path);

/** The redirect URI to which the provider sends people back. */
export const completionUrl = (baseUrl: string, { name }: CallProvider): string =>
  `${baseUrl}/calls/${name}/complete`;
