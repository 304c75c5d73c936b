import type { Environment } from '../../environment.ts';
import { badRequest } from '../../kernel/errors.ts';
import type { Secrets } from '../../kernel/outside.ts';

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

const callProviders: Readonly<Record<string, CallProvider>> = {
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
};

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
  secrets: Secrets,
  name: string,
): Promise<ConfiguredProvider> {
  const provider = Object.hasOwn(callProviders, name) ? callProviders[name] : undefined;
  if (provider === undefined) throw badRequest('This video call provider does not exist.');
  const prefix = provider.name.toUpperCase();
  const clientId = environment[`${prefix}_CLIENT_ID`];
  const oauthUrl = environment[`${prefix}_OAUTH_URL`];
  const apiUrl = environment[`${prefix}_API_URL`];
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
