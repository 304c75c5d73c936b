import { alert, button, field, form, hidden } from './form.ts';
import { html } from './html.ts';
import type { Page, Site } from './layout.ts';

/** A way to sign in with an account elsewhere. */
export interface SignInProvider {
  /** What people call it. */
  readonly displayName: string;
  /** The path at which it begins. */
  readonly path: string;
}

export interface SignIn {
  readonly organization: string;
  readonly providers: readonly SignInProvider[];
  /** The path of this service to go to afterwards (`ownPath`). */
  readonly next?: string | undefined;
  /** The address that was typed in. */
  readonly email?: string;
  /** Why the last try failed. */
  readonly problem?: string;
}

/** The page with the ways to sign in. */
export const signInPage = (site: Site, { organization, providers, next, email, problem }: SignIn): Page => ({
  title: 'Sign in',
  above: organization,
  content: [
    problem !== undefined && alert('problem', problem),
    providers.length > 0 &&
      html`<ul class="choices">${providers.map(
        ({ displayName, path }) =>
          html`<li><a class="button" href="${site.root}${withNext(path, next)}">Sign in with ${displayName}</a></li>`,
      )}</ul>`,
    form(site, '/login/', [
      next !== undefined && hidden('next', next),
      field({
        name: 'email',
        label: 'Email address',
        type: 'email',
        autocomplete: 'username',
        value: email,
        hasFocus: email === undefined,
        alert: problem && 'problem',
      }),
      field({
        name: 'password',
        label: 'Password',
        type: 'password',
        autocomplete: 'current-password',
        hasFocus: email !== undefined,
        alert: problem && 'problem',
      }),
      button('Sign in'),
    ]),
  ],
});

const withNext = (path: string, next: string | undefined): string =>
  next === undefined ? path : `${path}?next=${encodeURIComponent(next)}`;
