import { badRequest } from '../../kernel/errors.ts';
import type { Change } from '../../log/commit.ts';
import { isAdministrator } from '../../model/permission/permission.ts';
import { imageKey, imagePath, keyOfPath, mediumPath, type StoredImage } from '../../model/realm/picture.ts';
import { personEvent } from '../../model/user/activation.ts';
import type { Caller } from '../../model/user/caller.ts';
import { avatarFields, avatarUrlOf } from '../../model/user/object.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';

/** Refuses a caller who may not change their avatar (companion facts 4.8). */
export function checkAvatarChange({ standing, realm }: Pick<Caller, 'standing' | 'realm'>): void {
  if (realm.settings.avatar_changes_disabled && !isAdministrator(standing)) {
    throw badRequest('Avatars cannot be changed in this organization.');
  }
}

/** The two files of an avatar with this name, and the path of the smaller one. */
export function newAvatar(
  realm: string,
  name: string,
  { small, medium }: { readonly small: Uint8Array; readonly medium: Uint8Array },
): { readonly path: string; readonly images: readonly StoredImage[] } {
  const file = `${name}.png`;
  return {
    path: imagePath(realm, file),
    images: [
      [imageKey(realm, file), small, 'image/png'],
      [imageKey(realm, mediumPath(file)), medium, 'image/png'],
    ],
  };
}

/** The keys of a user's uploaded pictures, if any. */
export const avatarKeys = ({ avatarUrl }: Pick<User, 'avatarUrl'>): string[] =>
  avatarUrl === undefined ? [] : [avatarUrl, mediumPath(avatarUrl)].map(keyOfPath);

/** Sets the avatar, or removes it; on condition that it is unchanged. */
export function doSetAvatar(
  realm: string,
  { avatarUrl: _, ...user }: User,
  path: string | undefined,
): Change<{ readonly avatar_url: string }> {
  const { userId, avatarVersion } = user;
  const after = { ...user, avatarVersion: avatarVersion + 1, ...(path !== undefined && { avatarUrl: path }) };
  const set = { avatarVersion: after.avatarVersion };
  return {
    writes: [
      {
        update: key('user', { realm, userId }),
        change: path === undefined ? { set, remove: ['avatarUrl'] } : { set: { ...set, avatarUrl: path } },
        when: { equals: { isActive: true, avatarVersion } },
        lastWriterWins: true,
      },
    ],
    entries: [personEvent(userId, { ...avatarFields(after), avatar_version: after.avatarVersion })],
    result: { avatar_url: avatarUrlOf(after) },
  };
}
