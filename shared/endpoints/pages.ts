import { endpoint, HASHING_MEMORY, reads, signsIn, writes } from './endpoint.ts';
import { optional, text } from './parameter.ts';

/** What all pages have in common. */
const page = {
  isPage: true,
  source: 'DESIGN 10: pages are server-made HTML',
  serves: 'A page (HTML).',
} as const;

const next = optional(text('The path of this service to go to after the sign-in.'));

/** What the sign-in page says about single sign-on. */
const providerSettings = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_NAME'] as const;

export const showSignIn = endpoint({
  ...page,
  id: 'pages.showSignIn',
  route: 'GET /login',
  description: 'Shows the form for signing in.',
  access: 'anyone',
  parameters: { next },
  needs: { table: ['BatchGetItem'], settings: providerSettings },
});

export const signIn = endpoint({
  ...page,
  id: 'pages.signIn',
  route: 'POST /login',
  description: 'Signs in with a password, and begins a session in this browser.',
  access: 'anyone',
  parameters: { email: text('The email address.'), password: text('The password.'), next },
  needs: { table: signsIn, settings: providerSettings },
  memory: HASHING_MEMORY,
});

export const showAccount = endpoint({
  ...page,
  id: 'pages.showAccount',
  route: 'GET /account',
  description: 'Shows the devices of the account.',
  access: 'human',
  parameters: { done: optional(text('What has just been done, for a line that says so.')) },
});

export const revokeDevice = endpoint({
  ...page,
  id: 'pages.revokeDevice',
  route: 'POST /account/revoke',
  description: 'Signs a device out, which may be this one.',
  access: 'human',
  parameters: { key: text('The ID of its key.') },
  needs: { table: writes },
});

export const downloadKey = endpoint({
  ...page,
  id: 'pages.downloadKey',
  route: 'POST /account/zuliprc',
  description: 'Makes a key for a program, in a configuration file of the official clients.',
  access: 'human',
  needs: { table: [...reads, 'UpdateItem'] },
});

export const changePassword = endpoint({
  ...page,
  id: 'pages.changePassword',
  route: 'POST /account/password',
  description: 'Changes the password of the account, or sets its first one.',
  access: 'human',
  parameters: {
    old_password: optional(text('The current password, if there is one.')),
    new_password: text('The new password.'),
  },
  needs: { table: writes },
  memory: HASHING_MEMORY,
});

const reference = {
  source: 'https://swagger.io/docs/open-source-tools/swagger-ui/',
  access: 'anyone',
  needs: { table: [] },
} as const;

export const showReference = endpoint({
  ...reference,
  id: 'pages.showReference',
  route: 'GET /api',
  description: 'Shows the reference of the API.',
  serves: 'A page (HTML).',
});

export const getReferenceFile = endpoint({
  ...reference,
  id: 'pages.getReferenceFile',
  route: 'GET /api/reference/{file}',
  description: 'Gets a script or style sheet of the reference.',
  parameters: { file: text('The name of the file.') },
  serves: 'A file of the page.',
  notFound: true,
});
