import { badRequest } from '../../kernel/errors.ts';
import { checkPrintable, codePoints, folded } from '../../kernel/text.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { limits } from '../realm/realm.ts';
import type { User } from './user.ts';

/** Characters with a meaning in mentions and quotes. */
const RESERVED = ['*', '`', '\\', '>', '"', '@'];

/** Checks and trims a full name. */
export function checkFullName(input: string): string {
  const name = input.trim();
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

/** Atoms of RFC 5322 joined by dots: an unquoted local part. */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const LABEL = /^[\p{L}\p{N}]([\p{L}\p{N}-]*[\p{L}\p{N}])?$/u;

/** Longest local part of an address (RFC 5321). */
const MAX_LOCAL_PART = 64;

/** Whether text is an email address: an unquoted local part, and a domain of at least two labels. */
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

/** Whether text can be the part of an address before the `@`. */
export const isLocalPart = (text: string): boolean => text.length <= MAX_LOCAL_PART && LOCAL_PART.test(text);

/** Checks and trims an email address. */
export function checkEmail(input: string): string {
  const email = input.trim();
  if (!isEmail(email)) throw badRequest('Enter a valid email address.');
  return email;
}

/** The users with one full name, compared without case. The name of a new bot must be free among them. */
export interface Namesakes {
  /** The stored ids; undefined if nobody has ever had the name. */
  readonly ids: ReadonlySet<number> | undefined;
  readonly users: readonly User[];
}

/** Loads the users with these ids, which the lookup of a name returned. One round trip. */
export async function loadNamesakes(
  table: Table,
  realm: string,
  ids: ReadonlySet<number> | undefined,
): Promise<Namesakes> {
  const keys = [...(ids ?? [])].map((userId) => key('user', { realm, userId }));
  return { ids, users: await table.getMany(keys) };
}

/** Loads the other users with the name of this user. One round trip, and another if there are any. */
export async function loadOtherNamesakes(
  table: Table,
  realm: string,
  { userId, fullName }: Pick<User, 'userId' | 'fullName'>,
): Promise<Namesakes> {
  const stored = await table.get(nameKey(realm, fullName));
  const others = [...(stored?.users ?? [])].filter((id) => id !== userId);
  const { users } = await loadNamesakes(table, realm, new Set(others));
  return { ids: stored?.users, users };
}

/** Refuses a name that an active account has. People may share names, bots may not. */
export function checkBotName(fullName: string, { users }: Namesakes): void {
  if (users.some((user) => user.isActive && user.fullName === fullName)) {
    throw badRequest(`There is already an active account with the name '${fullName}'.`);
  }
}

/** Most inactive namesakes that one transaction checks in addition to its other writes. */
const MAX_HELD = 40;

/** Fails the transaction if the users with a name have changed, or an inactive one was activated. */
export const doRequireNamesakes = (realm: string, fullName: string, { ids, users }: Namesakes): Write[] => [
  { check: nameKey(realm, fullName), when: { equals: { users: ids } } },
  ...users
    .filter(({ isActive }) => !isActive)
    .slice(0, MAX_HELD)
    .map(({ userId }) => ({ check: key('user', { realm, userId }), when: { equals: { isActive: false } } })),
];

const nameKey = (realm: string, fullName: string) => key('fullName', { realm, name: folded(fullName) });

/** Adds a user to those with a full name, for mentions. With `namesakes` it fails if those have changed. */
export const nameWrite = (realm: string, fullName: string, userId: number, namesakes?: Namesakes): Write => ({
  update: nameKey(realm, fullName),
  change: { add: { users: new Set([userId]) } },
  ...(namesakes && { when: { equals: { users: namesakes.ids } } }),
});

/** Removes a user from those with a full name. */
export const unnameWrite = (realm: string, fullName: string, userId: number): Write => ({
  update: nameKey(realm, fullName),
  change: { take: { users: new Set([userId]) } },
});
