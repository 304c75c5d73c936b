import { fewIds } from '../../model/user/list.ts';
import type { TellProfile } from '../../model/user/object.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { isLink } from './link.ts';
import { fieldTypes, loadProfileFields, type ProfileField } from './profile-field.ts';

/** A value of a field, as stored and as clients get it: lists of users are JSON text. */
export interface StoredValue {
  readonly value: string;
  /** HTML, where the value is Markdown. */
  readonly rendered?: string;
  /** Of which choice of a dropdown it is the key (see `Choice`). */
  readonly since?: number;
}

/**
 * What somebody's profile says, as stored: apart from the user, who is read much more often. Values of fields and
 * choices that are gone may still be in it, since what takes those away cannot go through everybody's profile.
 * They are never told, and leave with the next change of the profile.
 */
export interface Profile {
  readonly userId: number;
  /** By the ids of the fields. */
  readonly values: Readonly<Record<string, StoredValue>>;
  readonly version: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    profile: Profile;
  }
}

/**
 * The values in a profile that count: of fields that are there, in dropdowns of choices that are there, and in links of
 * addresses that would be taken today. Earlier versions took some that are none.
 */
export const liveValues = (
  fields: readonly ProfileField[],
  profile: Pick<Profile, 'values'> | undefined,
): [ProfileField, StoredValue][] =>
  fields.flatMap((field): [ProfileField, StoredValue][] => {
    const stored = profile?.values[field.fieldId];
    return stored === undefined || !isLive(field, stored) ? [] : [[field, stored]];
  });

const isLive = ({ type, choices }: ProfileField, { value, since }: StoredValue): boolean =>
  (type !== fieldTypes.URL.id || isLink(value)) &&
  (choices === undefined || choices.some((choice) => choice.key === value && choice.since === since));

/** A value as clients get it. */
export const valueObject = ({ value, rendered }: StoredValue) => ({
  value,
  ...(rendered !== undefined && { rendered_value: rendered }),
});

/** Reads the profiles of these users, or of all, and tells them. One round trip. */
export async function loadProfiles(
  table: Table,
  realm: string,
  userIds: readonly number[] | undefined,
): Promise<TellProfile> {
  const few = fewIds(userIds);
  const [{ fields }, profiles] = await Promise.all([
    loadProfileFields(table, realm),
    few === undefined
      ? table.all('profile', { realm })
      : table.getMany(few.map((userId) => key('profile', { realm, userId }))),
  ]);
  const byUser = new Map(profiles.map((profile) => [profile.userId, profile]));
  return ({ userId }) =>
    Object.fromEntries(
      liveValues(fields, byUser.get(userId)).map(([{ fieldId }, stored]) => [fieldId, valueObject(stored)]),
    );
}
