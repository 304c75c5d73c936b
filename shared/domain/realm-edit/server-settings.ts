import type { Environment } from '../../environment.ts';
import { NOTHING_RESOLVED } from '../../markdown/references.ts';
import { render } from '../../markdown/render.ts';
import { FEATURE_LEVEL, pushSettings, REFERENCE_VERSION, type Realm } from '../../model/realm/realm.ts';
import { authenticationMethods, externalAuthenticationMethods } from '../../model/realm/sign-in-methods.ts';
import { realmPictures } from './pictures.ts';

/** The name that a client takes to find out what it shows to people whose client is too old. */
const INCOMPATIBLE_CLIENT = 'ZulipInvalid';

/** A client that asks before it signs in. */
interface Asking {
  /** Name of the client program. */
  readonly client: string;
  readonly baseUrl: string;
}

/** What a client needs before it signs in (companion facts 3.13). */
export const serverSettings = (realm: Realm, { client, baseUrl }: Asking, environment: Environment) => ({
  zulip_version: REFERENCE_VERSION,
  zulip_feature_level: FEATURE_LEVEL,
  zulip_merge_base: REFERENCE_VERSION,
  push_notifications_enabled: pushSettings(realm, environment).push_notifications_enabled,
  is_incompatible: client === INCOMPATIBLE_CLIENT,
  email_auth_enabled: true,
  require_email_format_usernames: true,
  realm_uri: baseUrl,
  realm_url: baseUrl,
  realm_name: realm.name,
  realm_icon: realmPictures(realm).icon.icon_url,
  realm_description: render(realm.description, NOTHING_RESOLVED).html,
  // No endpoint serves channels without an account.
  realm_web_public_access_enabled: false,
  authentication_methods: authenticationMethods(environment),
  external_authentication_methods: externalAuthenticationMethods(environment),
});
