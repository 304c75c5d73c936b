import { keyObjects, loadKeyUses } from '../domain/account/api-key.ts';
import type { Outside } from '../kernel/outside.ts';
import type { Caller, KeyUse, Account as StoredAccount } from '../model/user/caller.ts';
import { alert, button, field, form, hidden, notice } from './form.ts';
import { type Content, type Html, html } from './html.ts';
import type { Page, Site } from './layout.ts';
import { PASSWORD_HINT } from './password.ts';

/** What the page of an account shows. */
export interface Account {
  readonly caller: Pick<Caller, 'user' | 'realm'>;
  readonly account: StoredAccount;
  /** The id of the key of this browser. */
  readonly current: string;
  readonly loaded: LoadedAccount;
}

interface LoadedAccount {
  readonly uses: readonly KeyUse[];
  readonly hasPassword: boolean;
}

/** Loads what the page of an account shows besides the caller. One round trip. */
export async function loadAccount(outside: Outside, realm: string, userId: number): Promise<LoadedAccount> {
  const [uses, password] = await Promise.all([
    loadKeyUses(outside, realm, userId),
    outside.table.get('password', { realm, userId }),
  ]);
  return { uses, hasPassword: password !== undefined };
}

/** What the page says after a change, by the word that is in its address then. */
const done: Readonly<Record<string, string>> = {
  joined: 'Welcome! Your account is made. Sign in with the same address in other clients.',
  revoked: 'The device is signed out.',
  password: 'Your password is changed.',
};

export interface Outcome {
  /** What has just been done, in a word of `done`. */
  readonly done?: string | undefined;
  /** Why the password was not changed. */
  readonly passwordProblem?: string;
}

/** The page of an account: its devices, and what its owner can do. */
export function accountPage(
  site: Site,
  { caller: { user, realm }, account, current, loaded }: Account,
  { done: word, passwordProblem }: Outcome = {},
): Page {
  const devices = keyObjects(account, loaded.uses, current);
  return {
    title: user.fullName,
    above: realm.name,
    isWide: true,
    content: [
      word !== undefined && Object.hasOwn(done, word) && notice(done[word]),
      html`<p>You are signed in as <strong>${user.email}</strong>.</p>`,
      form(site, '/account/revoke', [hidden('key', current), button('Sign out', 'quiet')]),
      section('Devices and keys', [
        html`<p class="hint">Each sign-in has a key of its own. Sign out devices that you do not use or do not know.</p>`,
        html`<ul class="devices">${devices.map((device) => deviceItem(site, device))}</ul>`,
      ]),
      section('Password', passwordForm(site, user.email, loaded.hasPassword, passwordProblem)),
      section('Programs', [
        html`<p class="hint">Terminal clients, bots and scripts sign in with the file <code>zuliprc</code>. Each download adds a key to the list above. Keep the file to yourself.</p>`,
        form(site, '/account/zuliprc', button('Download zuliprc', 'quiet')),
      ]),
    ],
  };
}

const section = (title: string, content: Content): Html => html`<h2>${title}</h2>${content}`;

function passwordForm(site: Site, email: string, hasPassword: boolean, problem: string | undefined): Content {
  const about = problem && 'password-problem';
  return [
    problem !== undefined && alert('password-problem', problem),
    form(site, '/account/password', [
      // For programs that keep passwords.
      html`<input type="text" name="username" value="${email}" autocomplete="username" hidden>`,
      hasPassword &&
        field({
          name: 'old_password',
          label: 'Current password',
          type: 'password',
          autocomplete: 'current-password',
          alert: about,
          hasFocus: problem !== undefined,
        }),
      field({
        name: 'new_password',
        label: 'New password',
        type: 'password',
        autocomplete: 'new-password',
        hint: PASSWORD_HINT,
        alert: about,
        hasFocus: problem !== undefined && !hasPassword,
      }),
      button(hasPassword ? 'Change password' : 'Set password', 'quiet'),
    ]),
  ];
}

type Device = ReturnType<typeof keyObjects>[number];

function deviceItem(site: Site, { id, label, created, last_used, is_current }: Device): Html {
  return html`<li>
<div>${label}${is_current && html`<span class="mark">This device</span>`}
<p class="hint">${created === null ? 'Made before keys had dates' : html`Since ${day(created)}`}${
    last_used !== null && html`, last used ${day(last_used)}`
  }</p></div>
${!is_current && form(site, '/account/revoke', [hidden('key', id), button('Sign out', 'danger', `Sign out ${label}`)])}
</li>`;
}

/** A day in UTC, which all readers take for the same day. */
function day(seconds: number): Html {
  const date = new Date(seconds * 1_000).toISOString().slice(0, 10);
  return html`<time datetime="${date}">${date}</time>`;
}
