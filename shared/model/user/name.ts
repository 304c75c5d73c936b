import { badRequest } from '../../kernel/errors.ts';
import { checkPrintable, codePoints, folded } from '../../kernel/folding.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { limits } from '../realm/realm.ts';
import type { User } from './user.ts';

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

/** The users who bear a full name, whatever its case: what the name of a new bot is decided on. */
export interface Namesakes {
  /** The ids as they are stored with the name; undefined where nobody ever bore it. */
  readonly ids: ReadonlySet<number> | undefined;
  readonly users: readonly User[];
}

/** Reads the users with these ids, which the look-up of a name has brought. One round trip. */
export async function loadNamesakes(
  table: Table,
  realm: string,
  ids: ReadonlySet<number> | undefined,
): Promise<Namesakes> {
  const keys = [...(ids ?? [])].map((userId) => key('user', { realm, userId }));
  return { ids, users: await table.getMany(keys) };
}

/** The same for the name of somebody, who is not read. One round trip, and another one where others bear it. */
export async function lookUpNamesakes(
  table: Table,
  realm: string,
  { userId, fullName }: Pick<User, 'userId' | 'fullName'>,
): Promise<Namesakes> {
  const stored = await table.get(nameKey(realm, fullName));
  const others = [...(stored?.users ?? [])].filter((id) => id !== userId);
  const { users } = await loadNamesakes(table, realm, new Set(others));
  return { ids: stored?.users, users };
}

/** Refuses a name for a bot that an active account bears. People may share names, bots may not. */
export function checkBotName(fullName: string, { users }: Namesakes): void {
  if (users.some((user) => user.isActive && user.fullName === fullName)) {
    throw badRequest(`There is already an active account with the name '${fullName}'.`);
  }
}

/** Most namesakes to which a transaction is held, beside what else is in it. */
const MAX_HELD = 40;

/** Holds a transaction to those who were seen to bear a name, and to those of them who were out being so still. */
export const holdNamesakes = (realm: string, fullName: string, { ids, users }: Namesakes): Write[] => [
  { check: nameKey(realm, fullName), when: { equals: { users: ids } } },
  ...users
    .filter(({ isActive }) => !isActive)
    .slice(0, MAX_HELD)
    .map(({ userId }) => ({ check: key('user', { realm, userId }), when: { equals: { isActive: false } } })),
];

const nameKey = (realm: string, fullName: string) => key('fullName', { realm, name: folded(fullName) });

/**
 * Lets a full name lead to its bearer, for mentions. Names are not unique; `namesakes` holds the write to those who
 * were seen to bear it.
 */
export const nameWrite = (realm: string, fullName: string, userId: number, namesakes?: Namesakes): Write => ({
  update: nameKey(realm, fullName),
  change: { add: { users: new Set([userId]) } },
  ...(namesakes && { when: { equals: { users: namesakes.ids } } }),
});

/** Lets a full name lead to somebody no more. */
export const unnameWrite = (realm: string, fullName: string, userId: number): Write => ({
  update: nameKey(realm, fullName),
  change: { take: { users: new Set([userId]) } },
});
