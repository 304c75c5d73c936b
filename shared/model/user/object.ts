import { digestOf } from '../../kernel/text.ts';
import { roles } from '../permission/permission.ts';
import { mediumPath } from '../realm/picture.ts';
import { isSystemBot, type User } from './user.ts';

const GRAVATAR = 'https://secure.gravatar.com/avatar/';

/** Whether clients can compute this avatar URL themselves. */
export const isGravatar = (url: string | null | undefined): boolean => url?.startsWith(GRAVATAR) === true;

/** The Gravatar URL for a text, with a drawn fallback. The digest hides the text. */
const identicon = (text: string): string => {
  const digest = digestOf(text.trim().toLowerCase());
  return `${GRAVATAR}${digest}?d=identicon`;
};

/** The avatar URL of a user. */
export const avatarUrlOf = (user: Pick<User, 'avatarUrl' | 'avatarVersion' | 'email'>): string =>
  user.avatarUrl ?? `${identicon(user.email)}&version=${user.avatarVersion}`;

/**
 * The same in the form that a client supports (`client_gravatar`). Clients that compute Gravatar URLs themselves get null
 * for those, which keeps user lists short.
 */
export const avatarUrlFor = (
  user: Pick<User, 'avatarUrl' | 'avatarVersion' | 'email'>,
  clientGravatar = true,
): string | null => (clientGravatar ? (user.avatarUrl ?? null) : avatarUrlOf(user));

/** The address of a larger avatar. */
export const mediumAvatarUrlOf = (user: Pick<User, 'avatarUrl' | 'avatarVersion' | 'email'>): string =>
  user.avatarUrl === undefined ? `${avatarUrlOf(user)}&s=500` : mediumPath(user.avatarUrl);

/** An avatar as its own user and events see it: with its addresses, whatever the client can compute. */
export const avatarFields = (user: Pick<User, 'avatarUrl' | 'avatarVersion' | 'email'>) => ({
  avatar_source: user.avatarUrl === undefined ? 'G' : 'U',
  avatar_url: avatarUrlOf(user),
  avatar_url_medium: mediumAvatarUrlOf(user),
});

/** The icon of an organization that has no picture. */
export const organizationIcon = (uuid: string): string => `${identicon(uuid)}&version=1`;

/** Profile values as clients get them, by field id. */
export type ProfileData = Readonly<
  Record<string, { readonly value: string; readonly rendered_value?: string }>
>;

export type RenderProfile = (user: User) => ProfileData;

/** How a client wants users rendered. */
export interface UserRenderOptions {
  /** The client computes Gravatar URLs itself. Default: true. */
  readonly clientGravatar?: boolean;
  /** Adds the values of custom profile fields, which only people have. */
  readonly profile?: RenderProfile | undefined;
}

/** To the minute, with an explicit offset, as the reference formats it. */
const minuteOf = (iso: string): string => `${new Date(iso).toISOString().slice(0, 16)}+00:00`;

/** A user as clients see one (`GET /users`, the `realm_user` event). */
export const userObject = (user: User, options: UserRenderOptions = {}) => ({
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
  avatar_url: avatarUrlFor(user, options.clientGravatar),
  avatar_version: user.avatarVersion,
  timezone: user.timezone,
  ...(options.profile && !user.isBot && { profile_data: options.profile(user) }),
});
