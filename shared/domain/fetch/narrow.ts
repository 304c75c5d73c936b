import { badRequest, refusal } from '../../kernel/errors.ts';
import { codePoints } from '../../kernel/folding.ts';
import { isId } from '../../kernel/id.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import { EMPTY_TOPIC_NAME, limits } from '../../model/realm/realm.ts';
import { uniqueSorted } from '../../unique.ts';
import { MAX_PEOPLE } from '../send/request.ts';
import { type GivenTerm, type ReadTerm, readTerm } from './narrow-term.ts';

type Operand = string | number | readonly (string | number)[];

/** A narrow as clients send it. */
export type GivenNarrow = readonly GivenTerm<Operand>[];

/** What `is` can ask. */
const states = ['dm', 'mentioned', 'starred', 'unread', 'followed', 'resolved', 'alerted'] as const;
export type State = (typeof states)[number];

/** Somebody by id or by address; a channel by id or by name. */
type UserRef = number | string;
type ChannelRef = number | string;

type Criterion<User, Channel> =
  | { readonly kind: 'channel'; readonly channel: Channel }
  | { readonly kind: 'topic'; readonly topic: string }
  | { readonly kind: 'dm'; readonly people: readonly User[] }
  | { readonly kind: 'dmIncluding'; readonly people: readonly User[] }
  | { readonly kind: 'sender'; readonly user: User }
  | { readonly kind: 'id'; readonly id: number }
  | { readonly kind: 'is'; readonly state: State };

/** A condition as it was asked for, and one in which everything is told by its id. */
export type AskedTerm = Criterion<UserRef, ChannelRef> & { readonly negated: boolean };
export type Term = Criterion<number, number> & { readonly negated: boolean };

/** Whether a condition asks for this state, or that it is not so. */
export const isAbout = (state: State, term: AskedTerm): boolean => term.kind === 'is' && term.state === state;

/** The ID of no message: what nothing can meet. */
const NO_MESSAGE = 0;

/**
 * Reads a narrow: a list of conditions that must all hold (companion facts 1.14).
 *
 * @throws Refusal `BAD_NARROW` for operators and operands that the service does not know or does not follow, since
 *   leaving them out would show other messages; `BAD_REQUEST` for an operand of the wrong JSON type.
 */
export const checkNarrow = (given: GivenNarrow): AskedTerm[] =>
  given.flatMap((term) => {
    const read = readTerm(term, true);
    const criterion = criterionOf(read);
    return criterion === undefined ? [] : [{ ...criterion, negated: read.negated }];
  });

const bad = (desc: string) => refusal('badNarrow', { desc });
const wrongType = (operator: string, wanted: string) =>
  badRequest(`The operand of '${operator}' in 'narrow' must be ${wanted}.`);

/** The condition of an operator; undefined for one that leaves nothing out. */
function criterionOf({
  operator,
  name,
  operand,
}: ReadTerm<Operand>): Criterion<UserRef, ChannelRef> | undefined {
  switch (operator) {
    case 'channel':
      return { kind: 'channel', channel: single(name, operand) };
    case 'topic':
      return { kind: 'topic', topic: topicIn(name, operand) };
    case 'dm':
      return dm(name, operand);
    case 'dmIncluding':
      return { kind: 'dmIncluding', people: people(name, operand) };
    case 'sender':
      return { kind: 'sender', user: single(name, operand) };
    case 'id':
      return { kind: 'id', id: idIn(operand) };
    case 'is':
      return { kind: 'is', state: stateIn(operand) };
    // Only says to the client where to look.
    case 'near':
      return undefined;
    case 'in':
      if (operand === 'all') return undefined;
      if (typeof operand !== 'string') throw wrongType(name, 'a text');
      throw bad(`'in' does not know '${operand.slice(0, 60)}'`);
    default:
      throw bad(`there is no operator '${name.slice(0, 60)}'`);
  }
}

function single(operator: string, operand: Operand): string | number {
  if (typeof operand === 'object') throw wrongType(operator, 'one name or one ID');
  return operand;
}

/** The topic; its display name stands for the empty one. */
function topicIn(operator: string, operand: Operand): string {
  if (typeof operand !== 'string') throw wrongType(operator, 'a text');
  return operand === EMPTY_TOPIC_NAME ? '' : operand;
}

/** A direct conversation, told by all of its people; the empty list is no conversation, and has no messages. */
function dm(operator: string, operand: Operand): Criterion<UserRef, ChannelRef> {
  if (typeof operand === 'number') throw wrongType(operator, 'a list of IDs or a text with addresses');
  if (typeof operand === 'object' && operand.length === 0) return { kind: 'id', id: NO_MESSAGE };
  return { kind: 'dm', people: people(operator, operand) };
}

function people(operator: string, operand: Operand): readonly UserRef[] {
  const list = typeof operand === 'string' ? operand.split(',') : [operand].flat();
  const named = list
    .map((each) => (typeof each === 'string' ? each.trim() : each))
    .filter((each) => each !== '');
  if (named.length === 0) throw bad(`'${operator}' names nobody`);
  if (named.length > MAX_PEOPLE) throw bad(`'${operator}' names more than ${MAX_PEOPLE} people`);
  return named;
}

function idIn(operand: Operand): number {
  if (typeof operand === 'object') throw wrongType('id', 'the ID of a message');
  if (!/^\d{1,15}$/.test(String(operand))) throw bad("'id' takes the ID of a message");
  return Number(operand);
}

function stateIn(operand: Operand): State {
  if (typeof operand !== 'string') throw wrongType('is', 'a word');
  const state = states.find((name) => name === (operand === 'private' ? 'dm' : operand));
  if (state === undefined) throw bad(`'is' does not know '${operand.slice(0, 60)}'`);
  return state;
}

/** The names in a narrow, to be looked up with the credentials. */
export const narrowLookupKeys = (terms: readonly AskedTerm[]): LookupKey[] =>
  terms.flatMap((term): LookupKey[] => {
    if (term.kind === 'channel') return channelLookupKey(term.channel);
    if (term.kind === 'sender') return accountLookupKey(term.user);
    return 'people' in term ? term.people.flatMap(accountLookupKey) : [];
  });

/** A name leads somewhere if it is one at all: what is longer than any name is not looked up. */
const channelLookupKey = (ref: ChannelRef): LookupKey<'channelName'>[] =>
  typeof ref === 'string' && codePoints(ref.trim()) <= limits.channelName
    ? [{ kind: 'channelName', name: ref.trim() }]
    : [];
const accountLookupKey = (ref: UserRef): LookupKey<'account'>[] =>
  typeof ref === 'string' && codePoints(ref) <= limits.email ? [{ kind: 'account', email: ref }] : [];

/**
 * The narrow with ids in the place of names. An unknown address is `BAD_NARROW`, and so is an unknown channel, in
 * the very words that a hidden one is refused with.
 */
export const resolveNarrow = (terms: readonly AskedTerm[], resolved: Resolved, userId: number): Term[] =>
  terms.map((term): Term => {
    switch (term.kind) {
      case 'channel':
        return { ...term, channel: channelId(term.channel, resolved) };
      case 'sender':
        return { ...term, user: personId(term.user, resolved) };
      case 'dm':
        return {
          ...term,
          people: uniqueSorted([...term.people.map((each) => personId(each, resolved)), userId]),
        };
      case 'dmIncluding':
        return { ...term, people: uniqueSorted(term.people.map((each) => personId(each, resolved))) };
      default:
        return term;
    }
  });

function personId(ref: UserRef, resolved: Resolved): number {
  if (typeof ref === 'number') return ref;
  const [account] = accountLookupKey(ref).map((pointer) => resolved.follow(pointer));
  if (account === undefined) throw unknownUser();
  return account.userId;
}

function channelId(ref: ChannelRef, resolved: Resolved): number {
  if (typeof ref === 'number' && isId(ref)) return ref;
  const [found] = channelLookupKey(ref).map((pointer) => resolved.follow(pointer));
  if (found === undefined) throw unknownChannel();
  return found.channelId;
}

export const unknownChannel = () => bad('there is no such channel');
export const unknownUser = () => bad('there is no such user');

/** Whether a topic of a channel can have this name at all; no message is in one that cannot. */
export const canBeTopic = (topic: string): boolean => codePoints(topic) <= limits.topic;
