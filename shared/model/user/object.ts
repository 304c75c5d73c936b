import { roles } from '../permission/system-group.ts';
import { avatarUrlOf, shortAvatarUrlOf } from './avatar.ts';
import { isSystemBot, type User } from './user.ts';

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
