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

/** Which sign-in methods there are, by their names in `server_settings`. */
export const authenticationMethods = (environment: Environment): Readonly<Record<string, boolean>> => {
  const offered: Readonly<Record<string, boolean>> = {
    password: true,
    email: true,
    dev: isForDevelopment(environment),
  };
  return Object.fromEntries(methods.map((method) => [method, offered[method] ?? false]));
};
