import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { folded } from '../folding.ts';
import { badRequest } from '../problems.ts';
import type { User } from './user.ts';

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
  return { ids, users: await table.getMany<User>(keys) };
}

/** The same for a name that was not looked up. Two round trips. */
export async function lookUpNamesakes(table: Table, realm: string, fullName: string): Promise<Namesakes> {
  const stored = await table.get<{ users?: ReadonlySet<number> }>(nameKey(realm, fullName));
  return loadNamesakes(table, realm, stored?.users);
}

/** Refuses a name for a bot that an active account bears. People may share names, bots may not. */
export function checkBotName(fullName: string, { users }: Namesakes): void {
  if (users.some((user) => user.isActive && user.fullName === fullName)) {
    throw badRequest(`There is already an active account with the name '${fullName}'.`);
  }
}

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
