import { createHash } from 'node:crypto';
import type { User } from './user.ts';

const GRAVATAR = 'https://secure.gravatar.com/avatar/';

/** Whether an avatar's address is one of those that clients can work out themselves. */
export const isGravatar = (url: string | null | undefined): boolean => url?.startsWith(GRAVATAR) === true;

/** The picture that Gravatar has for, or draws from, a text that nobody can read out of the address. */
const identicon = (text: string): string => {
  const digest = createHash('sha256').update(text.trim().toLowerCase()).digest('hex');
  return `${GRAVATAR}${digest}?d=identicon`;
};

/** Where the avatar of a user is. */
export const avatarUrlOf = (user: Pick<User, 'avatarUrl' | 'avatarVersion' | 'email'>): string =>
  user.avatarUrl ?? `${identicon(user.email)}&version=${user.avatarVersion}`;

/**
 * The same for clients that work out Gravatar's addresses themselves: null where it is one of those, which keeps
 * long lists of users short.
 */
export const shortAvatarUrlOf = (user: Pick<User, 'avatarUrl'>): string | null => user.avatarUrl ?? null;

/** The one of the two that a client wants, by what it says of itself. */
export const toldAvatarUrl = (
  user: Pick<User, 'avatarUrl' | 'avatarVersion' | 'email'>,
  clientGravatar = true,
): string | null => (clientGravatar ? shortAvatarUrlOf(user) : avatarUrlOf(user));

/** The picture of an organization that has uploaded none. */
export const organizationIcon = (uuid: string): string => `${identicon(uuid)}&version=1`;
