import { badRequest } from '../../kernel/errors.ts';
import { codePoints } from '../../kernel/folding.ts';
import { checkPrintable } from '../../kernel/printable.ts';
import { limits } from '../realm/realm.ts';

/** Characters that mean something in mentions and quotes, so that no name may have them. */
const RESERVED = ['*', '`', '\\', '>', '"', '@'];

/** Decides whether text can be the full name of a user, and trims it. */
export function checkFullName(given: string): string {
  const name = given.trim();
  if (name === '') throw badRequest('A full name must not be empty.');
  if (codePoints(name) > limits.fullName) {
    throw badRequest(`A full name has at most ${limits.fullName} characters.`);
  }
  checkPrintable('The full name', name);
  const reserved = RESERVED.find((character) => name.includes(character));
  if (reserved !== undefined) throw badRequest(`A full name cannot contain the character ${reserved}`);
  // `@**name|15**` mentions the user with that id, whatever the name.
  if (/\|\d+$/.test(name)) throw badRequest('A full name cannot end with | and a number.');
  return name;
}

/** Words of letters, digits and the signs that RFC 5322 allows in an address without quotes, joined by dots. */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const LABEL = /^[\p{L}\p{N}]([\p{L}\p{N}-]*[\p{L}\p{N}])?$/u;

/** Longest part of an address before the `@`: a limit of RFC 5321. */
const LONGEST_LOCAL_PART = 64;

/** Whether text can be an email address: an unquoted local part, and a domain of at least two labels. */
export function isEmail(text: string): boolean {
  const cut = text.lastIndexOf('@');
  const local = text.slice(0, cut);
  const labels = text.slice(cut + 1).split('.');
  return (
    cut > 0 &&
    codePoints(text) <= limits.email &&
    isLocalPart(local) &&
    labels.length >= 2 &&
    labels.every((label) => label.length <= 63 && LABEL.test(label))
  );
}

/** Whether text can stand before the `@` of an address. */
export const isLocalPart = (text: string): boolean =>
  text.length <= LONGEST_LOCAL_PART && LOCAL_PART.test(text);

/** Decides whether text is an email address, and trims it. */
export function checkEmail(given: string): string {
  const email = given.trim();
  if (!isEmail(email)) throw badRequest('Enter a valid email address.');
  return email;
}
