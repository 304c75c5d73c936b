import type { Environment } from '../environment.ts';
import type { Realm } from '../model/realm/realm.ts';
import { signInProviders } from '../model/realm/sign-in-methods.ts';
import { alert, button, field, form, hidden, notice } from './form.ts';
import { type Content, type Html, html } from './html.ts';
import type { Page, Site } from './layout.ts';
import { PASSWORD_REQUEST_PATH } from './password.ts';

/** A way to sign in with an account elsewhere. */
export interface SignInProvider {
  /** What people call it. */
  readonly displayName: string;
  /** The path at which it begins. */
  readonly path: string;
}

/** How people get into an organization. */
interface WaysToSignIn {
  readonly organization: string;
  readonly providers: readonly SignInProvider[];
  /** Whether new people with certain addresses join by themselves, if a provider says who they are. */
  readonly isOpen: boolean;
}

/** How people get into this organization. */
export const waysToSignIn = (
  environment: Environment,
  { name, settings }: Pick<Realm, 'name' | 'settings'>,
): WaysToSignIn => ({
  organization: name,
  providers: signInProviders(environment),
  isOpen: settings.emails_restricted_to_domains && !settings.invite_required,
});

interface SignIn extends WaysToSignIn {
  /** The path of this service to go to afterwards (`ownPath`). */
  readonly next?: string | undefined;
  /** What has just been done, in a word of `done`. */
  readonly done?: string | undefined;
  /** The address that was typed in. */
  readonly email?: string;
  /** Why the last try failed. */
  readonly problem?: string;
}

/** What the page says first, by the word that is in its address then. */
const done: Readonly<Record<string, string>> = {
  password: 'Your password is set. You can sign in with it now.',
};

/** The page with the ways to sign in. */
export function signInPage(site: Site, { organization, providers, isOpen, next, ...rest }: SignIn): Page {
  const { done: word, email, problem } = rest;
  const query = next === undefined ? '' : `?next=${encodeURIComponent(next)}`;
  return {
    title: 'Sign in',
    above: organization,
    content: [
      word !== undefined && Object.hasOwn(done, word) && notice(done[word]),
      problem !== undefined && alert('problem', problem),
      providerButtons(site, 'Sign in', providers, query),
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
      html`<p class="after"><a href="${site.root}${PASSWORD_REQUEST_PATH}">Forgot your password?</a></p>`,
      html`<p class="hint">${forNewPeople(providers, isOpen)}</p>`,
    ],
  };
}

const forNewPeople = (providers: readonly SignInProvider[], isOpen: boolean): string => {
  const [provider] = providers;
  return isOpen && provider !== undefined
    ? `New here? Sign in with ${provider.displayName}: people with an address of this organization get an account. All others need an invitation.`
    : 'New here? You need an invitation. Ask somebody who is in already.';
};

/** A button for each provider, and after them a line before the form. */
export const providerButtons = (
  { root }: Site,
  what: string,
  providers: readonly SignInProvider[],
  query: string,
): Content => providers.length > 0 && buttonList(root, what, providers, query);

const buttonList = (root: string, what: string, providers: readonly SignInProvider[], query: string): Html =>
  html`<ul class="choices">${providers.map(
    ({ displayName, path }) =>
      html`<li><a class="button" href="${root}${path}${query}">${what} with ${displayName}</a></li>`,
  )}</ul>
<p class="or">or with a password</p>`;
