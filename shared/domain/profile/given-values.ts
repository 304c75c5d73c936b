import { badRequest } from '../../kernel/errors.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { extractReferences, type References } from '../../markdown/references.ts';
import { renderDescription } from '../../markdown/render.ts';
import { hiddenUsers } from '../../model/subscription/user-access.ts';
import type { Caller } from '../../model/user/caller.ts';
import { loadUsersById } from '../../model/user/list.ts';
import type { User } from '../../model/user/user.ts';
import {
  foundFor,
  type LoadedReferences,
  loadNamed,
  nameLookupKeys,
  withoutUsers,
} from '../mention/references.ts';
import {
  type AskedValue,
  checkValues,
  type DecidedProfile,
  loadProfileSnapshot,
  type ProfileSnapshot,
} from './profile-change.ts';

/** Values for somebody's profile with what they are decided on: also whom they name, in Markdown or in lists. */
export interface GivenValues extends ProfileSnapshot {
  readonly data: readonly AskedValue[];
  readonly named: LoadedReferences;
  readonly listed: readonly User[];
}

/** Who gives them, and where. */
interface Giving {
  readonly outside: Outside;
  readonly realm: string;
  readonly resolved: Resolved;
  readonly userId: number;
}

/** The names in values; which of them are Markdown is not known yet. */
const namesIn = (data: readonly AskedValue[]): References =>
  extractReferences(data.map(({ value }) => (typeof value === 'string' ? value : '')).join('\n'));

/** The names in values, as pointers to look up before anything else. */
export const valueLookupKeys = (data: readonly AskedValue[] = []): LookupKey[] =>
  nameLookupKeys(namesIn(data));

/** Reads what values for the profile of `ofUserId` are decided on. One round trip. */
export async function loadGivenValues(
  { outside, realm, resolved, userId }: Giving,
  ofUserId: number,
  data: readonly AskedValue[],
): Promise<GivenValues> {
  const listed = data.flatMap(({ value }) => (typeof value === 'string' ? [] : (value ?? [])));
  const [snapshot, named, users] = await Promise.all([
    loadProfileSnapshot(outside.table, realm, ofUserId),
    loadNamed(outside, resolved, namesIn(data), userId),
    loadUsersById(outside.table, realm, listed),
  ]);
  return { ...snapshot, data, named, listed: users };
}

/**
 * Decides on values for the profile of `target`, who must be a person. Reads only for guests who do not see
 * everyone, in one round trip.
 */
export async function checkGivenValues(
  outside: Outside,
  caller: Caller,
  target: User,
  given: GivenValues,
): Promise<DecidedProfile> {
  if (target.isBot) throw badRequest('Bots have no profile.');
  const { data, named, listed } = given;
  const everybody = new Map([...named.users.values(), ...listed].map((user) => [user.userId, user]));
  const hidden = await hiddenUsers(outside, caller, [...everybody.values()]);
  const found = foundFor(caller.standing, withoutUsers(named, hidden));
  return checkValues(caller, given, data, {
    people: new Map(listed.filter(({ userId }) => !hidden.has(userId)).map((user) => [user.userId, user])),
    render: (text) => renderDescription(text, found),
  });
}
