import { createHash } from 'node:crypto';
import { roles } from '../permission/permission.ts';
import { isSystemBot, type User } from './user.ts';

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

/** What clients are told of somebody's profile, by the ids of the fields. */
export type ProfileData = Readonly<
  Record<string, { readonly value: string; readonly rendered_value?: string }>
>;

/** Tells the profile of somebody. */
export type TellProfile = (user: User) => ProfileData;

/** How a reader wants users told. */
export interface UserRenderOptions {
  /** They work out Gravatar's addresses themselves; yes if absent, as clients expect it. */
  readonly clientGravatar?: boolean;
  /** Tells the values of custom profile fields, which only people have; they are left out if absent. */
  readonly profile?: TellProfile | undefined;
}

/** To the minute, with the offset spelled out, as the reference writes it. */
const minuteOf = (iso: string): string => `${new Date(iso).toISOString().slice(0, 16)}+00:00`;

/** A user as clients see one (`GET /users`, the `realm_user` event). */
export const userObject = (user: User, telling: UserRenderOptions = {}) => ({
  user_id: user.userId,
  email: user.email,
  delivery_email: user.email,
  full_name: user.fullName,
  role: user.role,
  is_owner: user.role === roles.owner,
  is_admin: user.role <= roles.administrator,
  is_guest: user.role === roles.guest,
  is_bot: user.isBot,
  bot_type: user.isBot ? (user.botType ?? 1) : null,
  ...(user.isBot && { bot_owner_id: user.ownerId ?? null }),
  ...(isSystemBot(user) && { is_system_bot: true }),
  is_active: user.isActive,
  is_deleted: false,
  is_imported_stub: false,
  date_joined: minuteOf(user.dateJoined),
  avatar_url: (telling.clientGravatar ?? true) ? shortAvatarUrlOf(user) : avatarUrlOf(user),
  avatar_version: user.avatarVersion,
  timezone: user.timezone,
  ...(telling.profile && !user.isBot && { profile_data: telling.profile(user) }),
});
