import { limits } from '../model/realm/realm.ts';

/** Something that an operator sets for the whole service and that is no secret. */
export interface OperatorSetting {
  /** The value of CDK context that gives it; on a laptop the environment does, under the setting's own name. */
  readonly context: string;
  /** What it is, for the tables of the README. */
  readonly says: string;
  /** What it is when nobody sets it; without this it is then not there. */
  readonly otherwise?: string;
  /** What a usable value looks like. */
  readonly matches: RegExp;
}

const ADDRESS = /^https?:\/\/[^\s/?#]+(\/[^\s?#]*)?$/;
const WORD = /^\S+$/;

/** Every such setting, by the name of the variable in which functions find it (DESIGN 8). */
export const operatorSettings = {
  API_RATE_LIMIT: {
    context: 'apiRateLimit',
    says: 'requests a minute for each account; `0` is no limit',
    otherwise: String(limits.requests),
    matches: /^(0|[1-9]\d{0,5})$/,
  },
  WEB_PUBLIC_STREAMS_ENABLED: {
    context: 'webPublicStreams',
    says: 'whether organizations may have web-public channels',
    otherwise: 'true',
    matches: /^(true|false)$/,
  },
  MAIL_DOMAIN: {
    context: 'mailDomain',
    says: 'the domain at which channels take mail',
    matches: /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])?$/,
  },
  PUSH_RELAY_URL: { context: 'pushRelayUrl', says: 'the relay for push notifications', matches: ADDRESS },
  PUSH_RELAY_ORG_ID: { context: 'pushRelayOrgId', says: 'our user name at the relay', matches: WORD },
  ZOOM_CLIENT_ID: { context: 'zoomClientId', says: 'our application at Zoom', matches: WORD },
  ZOOM_OAUTH_URL: {
    context: 'zoomOauthUrl',
    says: 'where Zoom asks people for their consent',
    otherwise: 'https://zoom.us',
    matches: ADDRESS,
  },
  ZOOM_API_URL: {
    context: 'zoomApiUrl',
    says: "Zoom's API",
    otherwise: 'https://api.zoom.us',
    matches: ADDRESS,
  },
  WEBEX_CLIENT_ID: { context: 'webexClientId', says: 'our application at Webex', matches: WORD },
  WEBEX_OAUTH_URL: {
    context: 'webexOauthUrl',
    says: 'where Webex asks people for their consent',
    otherwise: 'https://webexapis.com',
    matches: ADDRESS,
  },
  WEBEX_API_URL: {
    context: 'webexApiUrl',
    says: "Webex's API",
    otherwise: 'https://webexapis.com',
    matches: ADDRESS,
  },
} as const satisfies Readonly<Record<string, OperatorSetting>>;

export type OperatorSettingName = keyof typeof operatorSettings;

/** The names of all of them. */
export const operatorSettingNames = Object.keys(operatorSettings) as readonly OperatorSettingName[];
