import { badRequest } from '../../kernel/errors.ts';
import { codePoints, firstCodePoints } from '../../kernel/folding.ts';
import { isId } from '../../kernel/id.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import { limits } from '../realm/realm.ts';
import type { User } from './user.ts';

/** The people that a request is about: ids or email addresses. Without any it is about the caller. */
export type Principals = readonly number[] | readonly string[];

/** What is told of an address that leads nowhere, in characters. */
const LONGEST_TOLD = 100;

/** An address as it is looked up; what is longer than any address leads nowhere. */
export const addressLookupKey = (email: string): LookupKey<'account'> | undefined => {
  const address = email.trim();
  return codePoints(address) > limits.email ? undefined : { kind: 'account', email: address };
};

/** The addresses among the principals, as names to look up. */
export const principalLookupKeys = (principals: Principals = []): LookupKey[] =>
  principals.flatMap((principal) =>
    typeof principal === 'string' ? (addressLookupKey(principal) ?? []) : [],
  );

function idOf(principal: number | string, resolved: Resolved): number | undefined {
  if (typeof principal === 'number') return isId(principal) ? principal : undefined;
  const pointer = addressLookupKey(principal);
  return pointer && resolved.follow(pointer)?.userId;
}

/** The ids that the principals lead to, each once, for reading; the caller's own if there are no principals. */
export const principalIds = (
  principals: Principals | undefined,
  resolved: Resolved,
  callerId: number,
): number[] =>
  principals === undefined || principals.length === 0
    ? [callerId]
    : [...new Set(principals.flatMap((principal) => idOf(principal, resolved) ?? []))];

/**
 * The people that the principals are, each once and in their order, or a refusal that names the first one who is
 * unknown or deactivated. `users` are those that were read.
 */
export function accessPrincipals(
  principals: Principals | undefined,
  resolved: Resolved,
  users: ReadonlyMap<number, User>,
  caller: User,
): User[] {
  if (principals === undefined || principals.length === 0) return [caller];
  const people = new Map<number, User>();
  for (const principal of principals) {
    const user = users.get(idOf(principal, resolved) ?? 0);
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
