import { MAIL_OUT, OUTBOX } from '../domain/outbox/outbox.ts';
import { endpoint, type Needs, signsIn, writes } from './endpoint.ts';
import { optional, text } from './parameter.ts';

const pad = (client: string) =>
  optional(text(`The one-time pad of a ${client} client: 64 hexadecimal digits.`));

/** What it takes to ask the provider of single sign-on. */
const providerNeeds = {
  secrets: ['oidc-client-secret'],
  settings: ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_NAME'],
} as const satisfies Partial<Needs>;

export const beginSingleSignOn = endpoint({
  id: 'singleSignOn.begin',
  route: 'GET /accounts/login/social/oidc',
  source: 'companion facts 3.13, 3.14',
  description: 'Sends the browser to the provider of single sign-on.',
  access: 'anyone',
  isPage: true,
  parameters: {
    mobile_flow_otp: pad('mobile'),
    desktop_flow_otp: pad('desktop'),
    next: optional(text('The page of this service to show to somebody who has signed in in a browser.')),
    invitation: optional(text('The token of an invitation, by which a new person joins.')),
  },
  serves: 'A redirect (302) to the provider.',
  needs: { table: ['BatchGetItem', 'PutItem'], ...providerNeeds },
  timeout: 15,
});

export const completeSingleSignOn = endpoint({
  id: 'singleSignOn.complete',
  route: 'GET /complete/oidc',
  source: 'companion facts 3.14',
  description:
    'Signs somebody in who comes back from the provider of single sign-on: sets a session, or hands a key to the mobile client, or a login token to the desktop client. A cookie proves that the same browser began.',
  access: 'anyone',
  isPage: true,
  parameters: {
    state: text('The `state` of the redirect to the provider.'),
    code: optional(text('The authorization code, if the person signed in there.')),
    iss: optional(text('The issuer, from providers that name it.')),
    error: optional(text('The error of the provider, if the person did not sign in there.')),
  },
  serves: 'A redirect (302), or a page for the desktop client.',
  needs: {
    table: [...writes, 'DeleteItem', 'ConditionCheckItem'],
    ...providerNeeds,
    queues: [MAIL_OUT, OUTBOX],
    settings: [...providerNeeds.settings, 'MAIL_DOMAIN'],
  },
  // Metadata, token, keys and user info take up to 5 s each.
  timeout: 28,
});

export const useLoginToken = endpoint({
  id: 'singleSignOn.useLoginToken',
  route: 'GET /accounts/login/subdomain/{token}',
  source: 'companion facts 3.14',
  description: 'Signs a desktop client in with its login token, which works once and for 15 seconds.',
  access: 'anyone',
  isPage: true,
  parameters: { token: text('The token.') },
  serves: 'A redirect (302).',
  needs: {
    table: [...signsIn, 'PutItem', 'DeleteItem'],
    queues: [MAIL_OUT],
    settings: ['MAIL_DOMAIN'],
  },
});
