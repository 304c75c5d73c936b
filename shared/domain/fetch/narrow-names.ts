import { refusal } from '../../kernel/errors.ts';
import { isId, type LookupKey, type Resolved } from '../../kernel/lookup.ts';
import { codePoints } from '../../kernel/text.ts';
import { uniqueSorted } from '../../lists.ts';
import { limits } from '../../model/realm/realm.ts';
import type { Term, UnresolvedTerm } from './narrow.ts';
import type { Ref } from './term.ts';

/** The names in a narrow, for the lookup beside the credentials. */
export const narrowLookupKeys = (terms: readonly UnresolvedTerm[]): LookupKey[] =>
  terms.flatMap((term): LookupKey[] => {
    if ('channel' in term) return channelLookupKey(term.channel);
    if ('user' in term) return accountLookupKey(term.user);
    return 'people' in term ? term.people.flatMap(accountLookupKey) : [];
  });

/** A string longer than any valid name is not looked up. */
const channelLookupKey = (ref: Ref): LookupKey<'channelName'>[] =>
  typeof ref === 'string' && codePoints(ref.trim()) <= limits.channelName
    ? [{ kind: 'channelName', name: ref.trim() }]
    : [];
const accountLookupKey = (ref: Ref): LookupKey<'account'>[] =>
  typeof ref === 'string' && codePoints(ref) <= limits.email ? [{ kind: 'account', email: ref }] : [];

/** Finds the ids behind the names of channels and users. */
export interface Names {
  readonly channelId: (ref: Ref) => number;
  readonly userId: (ref: Ref) => number;
}

/** The names that were looked up. An unknown one is `BAD_NARROW`, with the same text as for a hidden one. */
export const lookedUp = (resolved: Resolved): Names => ({
  channelId: (ref) => {
    if (typeof ref === 'number' && isId(ref)) return ref;
    const [channel] = channelLookupKey(ref).map((lookupKey) => resolved.follow(lookupKey));
    if (channel === undefined) throw unknownChannel();
    return channel.channelId;
  },
  userId: (ref) => {
    if (typeof ref === 'number') return ref;
    const [account] = accountLookupKey(ref).map((lookupKey) => resolved.follow(lookupKey));
    if (account === undefined) throw unknownUser();
    return account.userId;
  },
});

/** Replaces names by ids. The reader always takes part in a direct conversation that the narrow names. */
export const resolveNarrow = (
  terms: readonly UnresolvedTerm[],
  { channelId, userId }: Names,
  reader: number,
): Term[] =>
  terms.map((term): Term => {
    switch (term.kind) {
      case 'channel':
        return { ...term, channel: channelId(term.channel) };
      case 'sender':
      case 'mentions':
        return { ...term, user: userId(term.user) };
      case 'dm':
      case 'dmIncluding':
      case 'groupDmIncluding': {
        const named = term.people.map(userId);
        const isWhole = term.kind === 'dm' && named.length > 0;
        return { ...term, people: uniqueSorted(isWhole ? [...named, reader] : named) };
      }
      default:
        return term;
    }
  });

export const unknownChannel = () => refusal('badNarrow', { desc: 'there is no such channel' });
export const unknownUser = () => refusal('badNarrow', { desc: 'there is no such user' });
