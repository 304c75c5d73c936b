import { limits } from '../model/realm/realm.ts';

/** A setting of the operator for the whole service. Secrets are separate. */
export interface OperatorSetting {
  /** Its name in the CDK context. On a laptop it is the environment variable itself. */
  readonly context: string;
  /** For the tables of the README. */
  readonly description: string;
  /** The default. Without one, the variable is then not set. */
  readonly fallback?: string;
  /** The pattern of valid values. */
  readonly matches: RegExp;
}

const ADDRESS = /^https?:\/\/[^\s/?#]+(\/[^\s?#]*)?$/;
const WORD = /^\S+$/;
/** With TLS, except on this very machine. Metadata is found by adding to the path, so there is no query. */
const ISSUER = /^(https:\/\/[^\s/?#@]+|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?)(\/[^\s?#]*)?$/;

/** Every operator setting by the environment variable of functions (DESIGN 8). */
export const operatorSettings = {
  API_RATE_LIMIT: {
    context: 'apiRateLimit',
    description: 'requests a minute for each account; `0` is no limit',
    fallback: String(limits.requests),
    matches: /^(0|[1-9]\d{0,5})$/,
  },
  WEB_PUBLIC_STREAMS_ENABLED: {
    context: 'webPublicStreams',
    description: 'whether organizations may have web-public channels',
    fallback: 'true',
    matches: /^(true|false)$/,
  },
  UPLOAD_QUOTA_MIB: {
    context: 'uploadQuotaMib',
    description: 'how many MiB the uploaded files of one organization may take; no limit if it is not set',
    matches: /^[1-9]\d{0,8}$/,
  },
  MAIL_DOMAIN: {
    context: 'mailDomain',
    description: 'the domain at which channels take mail',
    matches: /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])?$/,
  },
  PUSH_RELAY_URL: {
    context: 'pushRelayUrl',
    description: 'the relay for push notifications',
    matches: ADDRESS,
  },
  PUSH_RELAY_ORG_ID: { context: 'pushRelayOrgId', description: 'our user name at the relay', matches: WORD },
  ZOOM_CLIENT_ID: { context: 'zoomClientId', description: 'our application at Zoom', matches: WORD },
  ZOOM_OAUTH_URL: {
    context: 'zoomOauthUrl',
    description: 'where Zoom asks people for their consent',
    fallback: 'https://zoom.us',
    matches: ADDRESS,
  },
  ZOOM_API_URL: {
    context: 'zoomApiUrl',
    description: "Zoom's API",
    fallback: 'https://api.zoom.us',
    matches: ADDRESS,
  },
  WEBEX_CLIENT_ID: { context: 'webexClientId', description: 'our application at Webex', matches: WORD },
  WEBEX_OAUTH_URL: {
    context: 'webexOauthUrl',
    description: 'where Webex asks people for their consent',
    fallback: 'https://webexapis.com',
    matches: ADDRESS,
  },
  WEBEX_API_URL: {
    context: 'webexApiUrl',
    description: "Webex's API",
    fallback: 'https://webexapis.com',
    matches: ADDRESS,
  },
  BIG_BLUE_BUTTON_URL: {
    context: 'bigBlueButtonUrl',
    description: 'the BigBlueButton server for video calls, with its path: `https://HOST/bigbluebutton`',
    matches: ADDRESS,
  },
  OIDC_ISSUER: {
    context: 'oidcIssuer',
    description: 'the provider of single sign-on by OpenID Connect',
    matches: ISSUER,
  },
  OIDC_CLIENT_ID: { context: 'oidcClientId', description: 'our application at the provider', matches: WORD },
  OIDC_NAME: {
    context: 'oidcName',
    description: 'what the provider is called on buttons; `OpenID Connect` if it is not set',
    matches: /^[^\p{C}]{1,40}$/u,
  },
} as const satisfies Readonly<Record<string, OperatorSetting>>;

export type OperatorSettingName = keyof typeof operatorSettings;

export const operatorSettingNames = Object.keys(operatorSettings) as readonly OperatorSettingName[];

/** Settings that only make sense together. */
const together: readonly (readonly OperatorSettingName[])[] = [['OIDC_ISSUER', 'OIDC_CLIENT_ID']];

/** The settings that are needed beside those that are set: the first such pair, as what is set and what is missing. */
export function missingSetting(
  isSet: (name: OperatorSettingName) => boolean,
): { readonly given: OperatorSettingName; readonly missing: OperatorSettingName } | undefined {
  for (const names of together) {
    const given = names.find(isSet);
    const missing = names.find((name) => !isSet(name));
    if (given !== undefined && missing !== undefined) return { given, missing };
  }
  return undefined;
}
