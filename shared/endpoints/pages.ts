import { MAIL_OUT, OUTBOX } from '../domain/outbox/outbox.ts';
import { endpoint, HASHING_MEMORY, reads, signsIn, writes } from './endpoint.ts';
import { optional, text } from './parameter.ts';

/** What all pages have in common. */
const page = {
  isPage: true,
  source: 'DESIGN 10: pages are server-made HTML',
  serves: 'A page (HTML).',
} as const;

const next = optional(text('The path of this service to go to after the sign-in.'));

const done = optional(text('What has just been done, for a line that says so.'));

const email = text('The email address.');

/** What the sign-in page says about single sign-on. */
const providerSettings = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_NAME'] as const;

export const showSignIn = endpoint({
  ...page,
  id: 'pages.showSignIn',
  route: 'GET /login',
  description: 'Shows the form for signing in.',
  access: 'anyone',
  parameters: { next, done },
  needs: { table: ['BatchGetItem'], settings: providerSettings },
});

export const signIn = endpoint({
  ...page,
  id: 'pages.signIn',
  route: 'POST /login',
  description: 'Signs in with a password, and begins a session in this browser.',
  access: 'anyone',
  parameters: { email, password: text('The password.'), next },
  needs: {
    table: [...signsIn, 'PutItem'],
    queues: [MAIL_OUT],
    settings: [...providerSettings, 'MAIL_DOMAIN'],
  },
  memory: HASHING_MEMORY,
});

export const showAccount = endpoint({
  ...page,
  id: 'pages.showAccount',
  route: 'GET /account',
  description: 'Shows the devices of the account.',
  access: 'human',
  parameters: { done },
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

const linkToken = { token: text('The token of the link.') };

/** What it takes to use up a link. */
const usesLink = [...writes, 'DeleteItem', 'ConditionCheckItem'] as const;

export const showPasswordRequest = endpoint({
  ...page,
  id: 'pages.showPasswordRequest',
  route: 'GET /accounts/password/reset',
  description: 'Shows the form for somebody who has forgotten their password.',
  access: 'anyone',
  needs: { table: ['BatchGetItem'], settings: ['MAIL_DOMAIN'] },
});

export const requestPassword = endpoint({
  ...page,
  id: 'pages.requestPassword',
  route: 'POST /accounts/password/reset',
  description: 'Sends a link for a new password, if there is an account with this address.',
  access: 'anyone',
  parameters: { email },
  needs: { table: [...signsIn, 'PutItem'], queues: [MAIL_OUT], settings: ['MAIL_DOMAIN'] },
});

export const showPasswordLink = endpoint({
  ...page,
  id: 'pages.showPasswordLink',
  route: 'GET /accounts/set-password/{token}',
  description: 'Shows the form for a new password to somebody with a link for it.',
  access: 'anyone',
  parameters: linkToken,
  needs: { table: ['BatchGetItem'] },
});

export const setPassword = endpoint({
  ...page,
  id: 'pages.setPassword',
  route: 'POST /accounts/set-password/{token}',
  description: 'Sets a password by a link, which works once.',
  access: 'anyone',
  parameters: { ...linkToken, password: text('The new password.') },
  needs: { table: [...signsIn, 'Query', 'PutItem', 'DeleteItem', 'ConditionCheckItem'] },
  memory: HASHING_MEMORY,
});

export const showInvitation = endpoint({
  ...page,
  id: 'pages.showInvitation',
  route: 'GET /invite/{token}',
  description: 'Shows an invitation, and the form for joining.',
  access: 'anyone',
  parameters: linkToken,
  needs: { table: ['BatchGetItem'], settings: providerSettings },
});

export const join = endpoint({
  ...page,
  id: 'pages.join',
  route: 'POST /invite/{token}',
  description: 'Joins by an invitation: makes the account, and begins a session in this browser.',
  access: 'anyone',
  parameters: {
    ...linkToken,
    full_name: text('The name of the new person.'),
    email: optional(email),
    password: text('The password.'),
  },
  needs: { table: usesLink, queues: [OUTBOX], settings: providerSettings },
  memory: HASHING_MEMORY,
});

export const openJoinLink = endpoint({
  ...page,
  id: 'pages.openJoinLink',
  route: 'GET /join/{token}',
  description: 'Leads from the link of an invitation for many people to its page.',
  access: 'anyone',
  parameters: linkToken,
  needs: { table: ['BatchGetItem'] },
});

const reference = {
  source: 'https://swagger.io/docs/open-source-tools/swagger-ui/',
  access: 'anyone',
  needs: { table: [] },
} as const;

export const joinCall = endpoint({
  ...page,
  id: 'pages.joinCall',
  route: 'GET /calls/bigbluebutton/join',
  description:
    'Sends the browser to a meeting at the BigBlueButton server, which it opens if it is not open yet.',
  access: 'human',
  parameters: { bigbluebutton: text('The meeting, as its link has it.') },
  needs: { table: reads, secrets: ['big-blue-button-secret'], settings: ['BIG_BLUE_BUTTON_URL'] },
  timeout: 15,
});

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
