import { button, form, hidden, notice } from './form.ts';
import { type Content, type Html, html } from './html.ts';
import type { Page, Site } from './layout.ts';

/** A device with a key, as `keyObjects` lists it. */
export interface Device {
  readonly id: string;
  readonly label: string;
  /** Seconds since 1970, if known. */
  readonly created: number | null;
  /** Seconds since 1970, to the day, if known. */
  readonly last_used: number | null;
  readonly is_current: boolean;
}

export interface Account {
  readonly organization: string;
  readonly fullName: string;
  readonly email: string;
  readonly devices: readonly Device[];
  /** What has just been done, in a word of `done`. */
  readonly done?: string | undefined;
}

/** What the page says after a change, by the word that is in its address then. */
const done: Readonly<Record<string, string>> = {
  revoked: 'The device is signed out.',
};

/** The page of an account: its devices, and what its owner can do. */
export const accountPage = (site: Site, account: Account): Page => ({
  title: account.fullName,
  above: account.organization,
  isWide: true,
  content: [
    account.done !== undefined && Object.hasOwn(done, account.done) && notice(done[account.done]),
    html`<p>You are signed in as <strong>${account.email}</strong>.</p>`,
    account.devices.filter(({ is_current }) => is_current).map(({ id }) => signOut(site, id)),
    section('Devices and keys', [
      html`<p class="hint">Each sign-in has a key of its own. Sign out a device that you do not use or know.</p>`,
      html`<ul class="devices">${account.devices.map((device) => deviceItem(site, device))}</ul>`,
    ]),
    section('Programs', [
      html`<p class="hint">Terminal clients, bots and scripts sign in with the file <code>zuliprc</code>. Each download adds a key to the list above. Keep the file to yourself.</p>`,
      form(site, '/account/zuliprc', button('Download zuliprc', 'quiet')),
    ]),
  ],
});

const section = (title: string, content: Content): Html => html`<h2>${title}</h2>${content}`;

const signOut = (site: Site, id: string): Html =>
  form(site, '/account/revoke', [hidden('key', id), button('Sign out', 'quiet')]);

function deviceItem(site: Site, { id, label, created, last_used, is_current }: Device): Html {
  const facts = [
    created !== null && html`Since ${day(created)}`,
    last_used !== null && html`last used ${day(last_used)}`,
  ].filter((fact) => fact !== false);
  return html`<li>
<div>${label}${is_current && html`<span class="mark">This device</span>`}
<p class="hint">${facts.map((fact, at) => [at > 0 && ', ', fact])}</p></div>
${!is_current && form(site, '/account/revoke', [hidden('key', id), button('Sign out', 'danger', `Sign out ${label}`)])}
</li>`;
}

/** A day in UTC, which all readers take for the same day. */
function day(seconds: number): Html {
  const date = new Date(seconds * 1_000).toISOString().slice(0, 10);
  return html`<time datetime="${date}">${date}</time>`;
}
