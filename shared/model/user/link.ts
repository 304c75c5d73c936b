import type { Outside } from '../../kernel/outside.ts';
import { digestOf } from '../../kernel/text.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    link: Link;
  }
}

/**
 * A link that lets somebody without credentials in: they know its token, which is random. Only the digest of the token is
 * stored.
 */
export type Link = InvitationLink | PasswordLink;

/** Leads to an invitation, which decides who may use it and how often. An invitation has a link for each mail about it. */
interface InvitationLink {
  readonly kind: 'invitation';
  readonly inviteId: number;
  /** Seconds since 1970; absent if it does not expire. */
  readonly expires?: number;
}

/** Lets the owner of an account set its password, once. */
export interface PasswordLink {
  readonly kind: 'password';
  readonly userId: number;
  /** Seconds since 1970. */
  readonly expires: number;
}

/** How long (seconds) a link for a new password works. */
export const PASSWORD_LINK_SECONDS = 86_400;

/** A new token: random bytes, as text that an address may contain (32 characters for 24 bytes). */
export const newToken = ({ randomBytes }: Pick<Outside, 'randomBytes'>, bytes = 24): string =>
  Buffer.from(randomBytes(bytes)).toString('base64url');

const linkKey = (realm: string, token: string): Key<'link'> =>
  key('link', { realm, digest: digestOf(token) });

/** Stores a link under the digest of its token. */
export const doMakeLink = (realm: string, token: string, link: Link): Write => ({
  put: linkKey(realm, token),
  item: { ...link },
  when: { absent: true },
});

/** Uses a link up. Of two transactions with the same link, one fails. */
export const doUseLink = (realm: string, token: string): Write => ({
  delete: linkKey(realm, token),
  when: { absent: false },
});

/** Loads a link that has not expired. One round trip. `now` is in milliseconds. */
export async function loadLink(
  { table, now }: Pick<Outside, 'table' | 'now'>,
  realm: string,
  token: string,
): Promise<Link | undefined> {
  const link = await table.get(linkKey(realm, token));
  return link === undefined || isOver(link, now()) ? undefined : link;
}

/** Whether something has expired. The table deletes it only some time later. `now` is in milliseconds. */
export const isOver = ({ expires }: { readonly expires?: number }, now: number): boolean =>
  expires !== undefined && expires * 1_000 <= now;

/** The address of the page that a link in a mail leads to, below the base URL of the organization. */
export const linkAddress = (baseUrl: string, kind: Link['kind'], token: string): string =>
  `${baseUrl}${kind === 'invitation' ? '/invite/' : '/accounts/set-password/'}${token}`;

/** The address of a link for many people, which clients show (companion facts 3.8). It leads to the same page. */
export const joinAddress = (baseUrl: string, token: string): string => `${baseUrl}/join/${token}/`;
