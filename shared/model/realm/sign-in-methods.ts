import type { Environment } from '../../environment.ts';

/** The sign-in methods that clients look for in `server_settings` (companion facts 3.13). */
const methods = [
  'password',
  'dev',
  'email',
  'ldap',
  'remoteuser',
  'github',
  'azuread',
  'gitlab',
  'google',
  'apple',
  'saml',
  'openid connect',
  'discord',
];

/** Whether people can sign in without a password: only the local service sets this, no template does. */
export const isForDevelopment = ({ DEVELOPMENT_SIGN_IN }: Environment): boolean =>
  DEVELOPMENT_SIGN_IN === 'true';

/** The provider of single sign-on (OpenID Connect) that the operator configured. */
export interface SingleSignOn {
  /** Its address, from which its metadata is found. */
  readonly issuer: string;
  /** Our application at the provider. */
  readonly clientId: string;
  /** What people call it. */
  readonly name: string;
}

/** The provider of single sign-on; undefined if none is configured. */
export const singleSignOn = ({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: clientId,
  OIDC_NAME: name = 'OpenID Connect',
}: Environment): SingleSignOn | undefined => (issuer && clientId ? { issuer, clientId, name } : undefined);

/** The path at which a sign-in with the provider begins, for old and new people. */
export const SINGLE_SIGN_ON_PATH = '/accounts/login/social/oidc';

/** The sign-in methods of other services, as clients show them (companion facts 3.13). */
export const externalAuthenticationMethods = (environment: Environment) => {
  const provider = singleSignOn(environment);
  if (provider === undefined) return [];
  return [
    {
      name: 'oidc:oidc',
      display_name: provider.name,
      display_icon: null,
      login_url: SINGLE_SIGN_ON_PATH,
      signup_url: SINGLE_SIGN_ON_PATH,
    },
  ];
};

/** The same for our own sign-in page: what each is called, and the path at which it begins. */
export const signInProviders = (environment: Environment) =>
  externalAuthenticationMethods(environment).map((method) => ({
    displayName: method.display_name,
    path: method.login_url,
  }));

/** The sign-in methods of an organization, as `POST /register` names them. */
export const realmAuthenticationMethods = (environment: Environment) => {
  const offered = { enabled: true, available: true };
  return { Email: offered, ...(singleSignOn(environment) && { 'OpenID Connect': offered }) };
};

/** Which sign-in methods there are, by their names in `server_settings`. */
export const authenticationMethods = (environment: Environment): Readonly<Record<string, boolean>> => {
  const offered: Readonly<Record<string, boolean>> = {
    password: true,
    email: true,
    dev: isForDevelopment(environment),
    'openid connect': singleSignOn(environment) !== undefined,
  };
  return Object.fromEntries(methods.map((method) => [method, offered[method] ?? false]));
};
