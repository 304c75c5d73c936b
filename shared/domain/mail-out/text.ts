import type { OutgoingMail } from '../../kernel/outside.ts';

/** A mail before it has an address: paragraphs around one link. */
interface Draft {
  readonly subject: string;
  readonly before: readonly string[];
  readonly link: { readonly label: string; readonly url: string };
  readonly after: readonly string[];
}

const NOT_FOR_YOU = 'If you did not expect this mail, you can ignore it: nothing changes without the link.';

/** When a link ends, in words. `expires` is in seconds. */
const until = (expires: number | undefined): string =>
  expires === undefined
    ? 'The link works until it is used or revoked.'
    : `The link works until ${new Date(expires * 1_000).toUTCString()}.`;

/** The invitation of one person. */
export const invitationText = (
  organization: string,
  inviter: { readonly fullName: string; readonly email: string },
  url: string,
  expires: number | undefined,
): Draft => ({
  subject: `Invitation to ${organization}`,
  before: [
    `${inviter.fullName} (${inviter.email}) invites you to the team chat of ${organization}.`,
    'Follow this link to choose a name and a password:',
  ],
  link: { label: 'Join', url },
  after: [until(expires), NOT_FOR_YOU],
});

/** The reminder of an invitation that expires soon. */
export const reminderText: typeof invitationText = (organization, inviter, url, expires) => ({
  ...invitationText(organization, inviter, url, expires),
  subject: `Reminder: invitation to ${organization}`,
  before: [
    `This is a reminder: ${inviter.fullName} (${inviter.email}) invites you to the team chat of ${organization}.`,
    'The invitation expires soon. Follow this link to choose a name and a password:',
  ],
});

/** The link for a new password. */
export const passwordText = (organization: string, email: string, url: string, expires: number): Draft => ({
  subject: `Your password at ${organization}`,
  before: [
    `Somebody asked for a new password for the account ${email} in the team chat of ${organization}.`,
    'Follow this link to choose one:',
  ],
  link: { label: 'Choose a password', url },
  after: [until(expires), NOT_FOR_YOU],
});

/** The news that somebody signed in. `signedIn` is in seconds since 1970; `url` leads to the list of devices. */
export const loginText = (
  organization: string,
  { email, device, signedIn }: { readonly email: string; readonly device: string; readonly signedIn: number },
  url: string,
): Draft => ({
  subject: `New sign-in at ${organization}`,
  before: [
    `Somebody signed in to the account ${email} in the team chat of ${organization}.`,
    `Device: ${device}. Time: ${new Date(signedIn * 1_000).toUTCString()}.`,
    'If it was not you, sign the device out here, and choose another password:',
  ],
  link: { label: 'Your devices', url },
  after: ['If it was you, there is nothing to do. You can turn these mails off in your settings.'],
});

/** A mail as plain text and as simple HTML. */
export const mailOf = (to: string, { subject, before, link, after }: Draft): OutgoingMail => ({
  to,
  subject,
  text: `${[...before, link.url, ...after].join('\n\n')}\n`,
  html: [
    '<!doctype html><html lang="en"><body>',
    ...before.map(paragraph),
    `<p><a href="${escaped(link.url)}">${escaped(link.label)}</a></p>`,
    `<p>${escaped(link.url)}</p>`,
    ...after.map(paragraph),
    '</body></html>\n',
  ].join('\n'),
});

const paragraph = (text: string): string => `<p>${escaped(text)}</p>`;

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
