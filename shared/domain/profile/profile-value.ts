import { badRequest } from '../../kernel/errors.ts';
import { codePoints } from '../../kernel/folding.ts';
import type { User } from '../../model/user/user.ts';
import { isLink } from './link.ts';
import type { StoredValue } from './profile-data.ts';
import { fieldTypes, type ProfileField } from './profile-field.ts';

/** Longest values, in code points. */
const SHORT = 50;
const LONG = 500;

/**
 * Decides whether a field can have this value, by its type (specification 2.6), and tells how it is stored.
 *
 * @param people those whom a list of users may name
 */
export function checkValue(
  field: ProfileField,
  value: string | readonly number[],
  people: ReadonlyMap<number, User>,
): Omit<StoredValue, 'rendered'> {
  if (field.type === fieldTypes.USER.id) return { value: JSON.stringify(checkPeople(field, value, people)) };
  if (typeof value !== 'string') throw badRequest(`The value of '${field.name}' must be a string.`);
  switch (field.type) {
    case fieldTypes.SELECT.id:
      return checkChoice(field, value);
    case fieldTypes.DATE.id:
      if (isDate(value)) return { value };
      throw badRequest(`The value of '${field.name}' must be a date, as in 2020-02-29.`);
    case fieldTypes.URL.id:
      if (isLink(value)) return { value };
      throw badRequest(`The value of '${field.name}' must be a valid address, as in https://example.com.`);
    case fieldTypes.LONG_TEXT.id:
      return { value: checkLength(field, value, LONG) };
    default:
      return { value: checkLength(field, value, SHORT) };
  }
}

/** Whether values of the field are Markdown, so that clients are told their HTML too. */
export const isMarkdown = ({ type }: ProfileField): boolean =>
  type === fieldTypes.SHORT_TEXT.id || type === fieldTypes.LONG_TEXT.id;

function checkLength(field: ProfileField, value: string, most: number): string {
  if (codePoints(value) > most) {
    throw badRequest(`The value of '${field.name}' has at most ${most} characters.`);
  }
  return value;
}

function checkChoice({ name, choices = [] }: ProfileField, value: string): Omit<StoredValue, 'rendered'> {
  const choice = choices.find(({ key }) => key === value);
  if (choice === undefined) throw badRequest(`The value of '${name}' must be the key of one of its choices.`);
  return { value, since: choice.since };
}

/** The people of a list, each once: active ones who are no bots, and whom the one who names them may know of. */
function checkPeople(
  { name }: ProfileField,
  value: string | readonly number[],
  people: ReadonlyMap<number, User>,
): number[] {
  if (typeof value === 'string') throw badRequest(`The value of '${name}' must be a list of user IDs.`);
  for (const userId of value) {
    const user = people.get(userId);
    if (user === undefined) throw badRequest(`There is no user with the ID ${userId}.`);
    if (!user.isActive) throw badRequest(`The user with the ID ${userId} is deactivated.`);
    if (user.isBot) throw badRequest(`The user with the ID ${userId} is a bot.`);
  }
  return [...new Set(value)];
}

/** Whether text is a day of the calendar, year, month and day, with all their zeros. */
function isDate(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return /^\d{4}-\d\d-\d\d$/.test(text) && day.getTime() >= YEAR_ONE && day.toISOString().startsWith(text);
}

const YEAR_ONE = Date.parse('0001-01-01T00:00:00Z');
