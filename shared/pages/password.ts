import { alert, button, type FieldProblem, field, form } from './form.ts';
import { html } from './html.ts';
import type { Page, Site } from './layout.ts';

/** The hint beside a field for a new password. */
export const PASSWORD_HINT =
  'At least 8 characters. Three or four random words are hard to guess and easy to remember.';

/** The path of the form for somebody who has forgotten their password. */
export const PASSWORD_REQUEST_PATH = '/accounts/password/reset/';

/** What the form for a forgotten password shows. */
export interface PasswordRequest {
  readonly organization: string;
  /** Whether the service sends mail. Without it there is no form. */
  readonly sendsMail: boolean;
  /** The address that was typed in. */
  readonly email?: string;
  readonly problem?: FieldProblem;
}

/** The page for somebody who has forgotten their password. */
export const passwordRequestPage = (
  site: Site,
  { organization, sendsMail, email, problem }: PasswordRequest,
): Page => ({
  title: 'Forgot your password?',
  above: organization,
  content: [
    sendsMail
      ? [
          html`<p>Type in the address of your account. We mail you a link for a new password.</p>`,
          problem !== undefined && problem.field === undefined && alert('problem', problem.text),
          form(site, PASSWORD_REQUEST_PATH, [
            field({
              name: 'email',
              label: 'Email address',
              type: 'email',
              autocomplete: 'username',
              value: email,
              hasFocus: true,
              ...(problem?.field === 'email' ? { error: problem.text } : { alert: problem && 'problem' }),
            }),
            button('Send the link'),
          ]),
        ]
      : html`<p>This service sends no mail. The operator of the service can make you a link to choose a new password.</p>`,
    html`<p class="after"><a href="${site.root}/login/">Back to the sign-in</a></p>`,
  ],
});

/** The page after the request for a link. It is the same whether or not there is an account. */
export const passwordRequestedPage = (site: Site, organization: string, email: string): Page => ({
  title: 'Look into your mail',
  above: organization,
  content: html`<p role="status">If there is an account with the address <strong>${email}</strong>, a link for a new password is on its way. It works once, for a day.</p>
<p>No mail after some minutes? Look into the spam folder, and check the address.</p>
<p class="after"><a href="${site.root}/login/">Back to the sign-in</a></p>`,
});

/** Whose password a link sets. */
export interface PasswordLink {
  readonly organization: string;
  readonly email: string;
  readonly token: string;
  /** Why the password was refused. */
  readonly problem?: string;
}

/** The page on which somebody with a link chooses a password. */
export const passwordLinkPage = (
  site: Site,
  { organization, email, token, problem }: PasswordLink,
): Page => ({
  title: 'Choose a password',
  above: organization,
  content: [
    html`<p>For the account <strong>${email}</strong>.</p>`,
    form(site, `/accounts/set-password/${encodeURIComponent(token)}`, [
      // For programs that keep passwords.
      html`<input type="text" name="username" value="${email}" autocomplete="username" hidden>`,
      field({
        name: 'password',
        label: 'New password',
        type: 'password',
        autocomplete: 'new-password',
        hint: PASSWORD_HINT,
        error: problem,
        hasFocus: true,
      }),
      button('Set password'),
    ]),
  ],
});
