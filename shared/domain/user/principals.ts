import { isId } from '../channel/channel-access.ts';
import { codePoints, firstCodePoints } from '../folding.ts';
import type { Known, Pointer } from '../pointer.ts';
import { badRequest } from '../problems.ts';
import { limits } from '../realm/realm.ts';
import type { Account, User } from './user.ts';

/** The people that a request is about: ids or email addresses. Without any it is about the caller. */
export type Principals = readonly number[] | readonly string[];

/** What is told of an address that leads nowhere, in characters. */
const LONGEST_TOLD = 100;

/** An address as it is looked up; what is longer than any address leads nowhere. */
export const addressPointer = (email: string): Pointer | undefined => {
  const address = email.trim();
  return codePoints(address) > limits.email ? undefined : { kind: 'account', email: address };
};

/** The addresses among the principals, as names to look up. */
export const principalPointers = (principals: Principals = []): Pointer[] =>
  principals.flatMap((principal) => (typeof principal === 'string' ? (addressPointer(principal) ?? []) : []));

function idOf(principal: number | string, known: Known): number | undefined {
  if (typeof principal === 'number') return isId(principal) ? principal : undefined;
  const pointer = addressPointer(principal);
  return pointer && known.follow<Account>(pointer)?.userId;
}

/** The ids that the principals lead to, each once, for reading; the caller's own if there are no principals. */
export const principalIds = (principals: Principals | undefined, known: Known, callerId: number): number[] =>
  principals === undefined || principals.length === 0
    ? [callerId]
    : [...new Set(principals.flatMap((principal) => idOf(principal, known) ?? []))];

/**
 * The people that the principals are, each once and in their order, or a refusal that names the first one who is
 * unknown or deactivated. `users` are those that were read.
 */
export function accessPrincipals(
  principals: Principals | undefined,
  known: Known,
  users: ReadonlyMap<number, User>,
  caller: User,
): User[] {
  if (principals === undefined || principals.length === 0) return [caller];
  const people = new Map<number, User>();
  for (const principal of principals) {
    const user = users.get(idOf(principal, known) ?? 0);
    if (!user?.isActive) {
      const kind = typeof principal === 'string' ? 'email address' : 'ID';
      throw badRequest(
        `There is no active user with the ${kind} ${firstCodePoints(String(principal), LONGEST_TOLD)}.`,
      );
    }
    people.set(user.userId, user);
  }
  return [...people.values()];
}
