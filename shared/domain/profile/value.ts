import { badRequest } from '../../kernel/errors.ts';
import { type ListSource, loadList } from '../../kernel/list-cache.ts';
import { codePoints } from '../../kernel/text.ts';
import type { RenderProfile } from '../../model/user/object.ts';
import { idsToRead } from '../../model/user/principals.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import { fieldTypes, isLink, loadProfileFields, type ProfileField } from './field.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    profile: Profile;
  }
}

/** A value as stored and as clients get it. Lists of users are JSON text. */
export interface StoredValue {
  readonly value: string;
  /** HTML of a Markdown value. */
  readonly rendered?: string;
  /** For a dropdown, the version of the choice (see `Choice`). */
  readonly since?: number;
}

/**
 * A profile as stored, apart from the user item, which is read much more often. It may contain values of deleted
 * fields and choices. Those are never returned, and are dropped by the next change of the profile.
 */
export interface Profile {
  readonly userId: number;
  /** By field id. */
  readonly values: Readonly<Record<string, StoredValue>>;
  readonly version: number;
}

/**
 * The valid values of a profile: of existing fields, of existing choices of dropdowns, and links that pass today's
 * checks, which are stricter than earlier ones.
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

/** Loads the profiles of these users, or of all (`loadList`, where `whole` is explained). One round trip, or two for all. */
export async function loadProfiles(
  source: ListSource,
  realm: string,
  userIds: readonly number[] | undefined,
  whole?: number,
): Promise<RenderProfile> {
  const { table } = source;
  const few = idsToRead(userIds);
  const [{ fields }, profiles] = await Promise.all([
    loadProfileFields(table, realm),
    few === undefined
      ? loadList(source, 'profile', realm, whole)
      : table.getMany(few.map((userId) => key('profile', { realm, userId }))),
  ]);
  const byUser = new Map(profiles.map((profile) => [profile.userId, profile]));
  return ({ userId }) =>
    Object.fromEntries(
      liveValues(fields, byUser.get(userId)).map(([{ fieldId }, stored]) => [fieldId, valueObject(stored)]),
    );
}

/** Longest values, in code points. */
const MAX_SHORT_TEXT = 50;
const MAX_LONG_TEXT = 500;

/**
 * Checks a value of a field by its type (specification 2.6). Returns it as stored.
 *
 * @param people the users that a list may reference
 */
export function checkValue(
  field: ProfileField,
  value: string | readonly number[],
  people: ReadonlyMap<number, User>,
): Omit<StoredValue, 'rendered'> {
  const { type, name, choices = [] } = field;
  const invalid = (rule: string) => badRequest(`The value of '${name}' ${rule}.`);
  if (type === fieldTypes.USER.id) {
    if (typeof value === 'string') throw invalid('must be a list of user IDs');
    return { value: JSON.stringify(checkPeople(value, people)) };
  }
  if (typeof value !== 'string') throw invalid('must be a string');
  if (type === fieldTypes.SELECT.id) {
    const choice = choices.find(({ key }) => key === value);
    if (choice === undefined) throw invalid('must be the key of one of its choices');
    return { value, since: choice.since };
  }
  if (type === fieldTypes.DATE.id) {
    if (!isDate(value)) throw invalid('must be a date, as in 2020-02-29');
  } else if (type === fieldTypes.URL.id) {
    if (!isLink(value)) throw invalid('must be a valid address, as in https://example.com');
  } else {
    const most = type === fieldTypes.LONG_TEXT.id ? MAX_LONG_TEXT : MAX_SHORT_TEXT;
    if (codePoints(value) > most) throw invalid(`has at most ${most} characters`);
  }
  return { value };
}

/** Whether values of the field are Markdown, so that clients get HTML too. */
export const isMarkdown = ({ type }: ProfileField): boolean =>
  type === fieldTypes.SHORT_TEXT.id || type === fieldTypes.LONG_TEXT.id;

/** The users of a list, each once: active people whom the caller may see. */
function checkPeople(value: readonly number[], people: ReadonlyMap<number, User>): number[] {
  for (const userId of value) {
    const user = people.get(userId);
    if (user === undefined) throw badRequest(`There is no user with the ID ${userId}.`);
    if (!user.isActive) throw badRequest(`The user with the ID ${userId} is deactivated.`);
    if (user.isBot) throw badRequest(`The user with the ID ${userId} is a bot.`);
  }
  return [...new Set(value)];
}

/** Whether text is a valid date with all its zeros. */
function isDate(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return /^\d{4}-\d\d-\d\d$/.test(text) && day.getTime() >= YEAR_ONE && day.toISOString().startsWith(text);
}

const YEAR_ONE = Date.parse('0001-01-01T00:00:00Z');
