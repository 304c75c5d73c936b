import { badRequest } from '../../kernel/errors.ts';
import { codePoints } from '../../kernel/folding.ts';
import { checkPrintable } from '../../kernel/printable.ts';
import { limits } from '../realm/realm.ts';

/** Beginnings that would make a group's name look like something else (wire facts 7). Their case matters. */
const RESERVED = ['@', 'role:', 'user:', 'stream:', 'channel:'];

/** Whether a text is short enough to be the name of a group, so that it can be looked up as one. */
export const fitsGroupName = (name: string): boolean => codePoints(name) <= limits.groupName;

/** Decides whether text can name a group (wire facts 7). The name stays just as it was sent. */
export function checkGroupName(name: string): string {
  if (name.trim() === '') throw badRequest('A user group needs a name.');
  if (!fitsGroupName(name)) {
    throw badRequest(`A user group name has at most ${limits.groupName} characters.`);
  }
  checkPrintable('The user group name', name);
  const reserved = RESERVED.find((prefix) => name.startsWith(prefix));
  if (reserved !== undefined) throw badRequest(`A user group name cannot begin with '${reserved}'.`);
  return name;
}

/** Decides whether text can describe a group. */
export function checkGroupDescription(description: string): string {
  if (codePoints(description) > limits.groupDescription) {
    throw badRequest(`A user group description has at most ${limits.groupDescription} characters.`);
  }
  return description;
}
