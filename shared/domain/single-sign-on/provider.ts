import type { AuthorizationServer } from 'oauth4webapi';
import type { Environment } from '../../environment.ts';
import { badRequest } from '../../kernel/errors.ts';
import type { Secrets } from '../../kernel/outside.ts';
import { type SingleSignOn, singleSignOn } from '../../model/realm/sign-in-methods.ts';

/** The secret of our client at the provider. */
const SECRET = 'oidc-client-secret';

/** The provider of single sign-on, as the operator set it up. */
export interface Provider extends SingleSignOn {
  readonly clientSecret: string;
}

/**
 * Returns the provider, as the operator has configured it.
 *
 * @throws Refusal if none is configured
 */
export async function accessProvider(environment: Environment, secrets: Secrets): Promise<Provider> {
  const configured = singleSignOn(environment);
  const clientSecret = configured && (await secrets.get(SECRET));
  if (!clientSecret) throw badRequest('Single sign-on is not set up on this server.');
  return { ...configured, clientSecret };
}

/** The page of our service to which the provider sends people back. */
export const completionUrl = (baseUrl: string): string => `${baseUrl}/complete/oidc`;

/** What a container remembers of the provider: its metadata, and by it the library its keys. */
export interface ProviderMemory {
  metadata?: { readonly server: AuthorizationServer; readonly until: number };
}

export const newProviderMemory = (): ProviderMemory => ({});
