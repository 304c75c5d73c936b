import { badRequest, refusal } from '../../kernel/errors.ts';
import { codePoints } from '../../kernel/folding.ts';
import { isId, type LookupKey, type Resolved } from '../../kernel/lookup.ts';
import { EMPTY_TOPIC_NAME, limits } from '../../model/realm/realm.ts';
import { uniqueSorted } from '../../unique.ts';
import { MAX_PEOPLE } from '../send/request.ts';

/** A condition of a narrow as clients send it: a pair, or an object. `O`: the type of an operand. */
export type TermParameter<O> =
  | readonly [string, O]
  | { readonly operator: string; readonly operand: O; readonly negated?: boolean | undefined };

/** Operators under all their names. */
const operators = {
  channel: 'channel',
  stream: 'channel',
  topic: 'topic',
  subject: 'topic',
  dm: 'dm',
  'pm-with': 'dm',
  pm_with: 'dm',
  'dm-including': 'dmIncluding',
  sender: 'sender',
  from: 'sender',
  id: 'id',
  is: 'is',
  near: 'near',
  in: 'in',
} as const;

type Operator = (typeof operators)[keyof typeof operators];

/** A condition with a resolved operator. */
export interface ParsedTerm<O> {
  /** Undefined if no operator has this name. */
  readonly operator: Operator | undefined;
  /** The name that the client used. */
  readonly name: string;
  readonly operand: O;
  readonly negated: boolean;
}

const isPair = <O>(term: TermParameter<O>): term is readonly [string, O] => Array.isArray(term);

/** Parses a condition. The caller decides which operators and operands it supports. */
export function parseTerm<O>(input: TermParameter<O>, ignoresCase = false): ParsedTerm<O> {
  const term = isPair(input) ? { operator: input[0], operand: input[1] } : input;
  const name = ignoresCase ? term.operator.toLowerCase() : term.operator;
  const operator = Object.hasOwn(operators, name) ? operators[name as keyof typeof operators] : undefined;
  return { operator, name, operand: term.operand, negated: 'negated' in term && term.negated === true };
}

type Operand = string | number | readonly (string | number)[];

/** A narrow as clients send it. */
export type NarrowParameter = readonly TermParameter<Operand>[];

/** The operands of `is`. */
const states = ['dm', 'mentioned', 'starred', 'unread', 'followed', 'resolved', 'alerted'] as const;
export type State = (typeof states)[number];

/** A user by id or email, or a channel by id or name. */
type Ref = number | string;

type Criterion<R extends Ref> =
  | { readonly kind: 'channel'; readonly channel: R }
  | { readonly kind: 'topic'; readonly topic: string }
  | { readonly kind: 'dm'; readonly people: readonly R[] }
  | { readonly kind: 'dmIncluding'; readonly people: readonly R[] }
  | { readonly kind: 'sender'; readonly user: R }
  | { readonly kind: 'id'; readonly id: number }
  | { readonly kind: 'is'; readonly state: State };

/** A condition with ids and names as the client sent them, and one with ids only. */
export type UnresolvedTerm = Criterion<Ref> & { readonly negated: boolean };
export type Term = Criterion<number> & { readonly negated: boolean };

/** Whether a condition is `is:<state>`, negated or not. */
export const isState = (state: State, term: UnresolvedTerm): boolean =>
  term.kind === 'is' && term.state === state;

/** An id that no message has, for a condition that nothing meets. */
const NO_MESSAGE = 0;

/**
 * Parses a narrow: a list of conditions that must all hold (companion facts 1.14).
 *
 * @throws Refusal `BAD_NARROW` for unknown or unsupported operators and operands, since ignoring one would return other
 *   messages; `BAD_REQUEST` for an operand of the wrong JSON type.
 */
export const checkNarrow = (narrow: NarrowParameter): UnresolvedTerm[] =>
  narrow.flatMap((term) => {
    const parsed = parseTerm(term, true);
    const criterion = criterionOf(parsed);
    return criterion === undefined ? [] : [{ ...criterion, negated: parsed.negated }];
  });

const bad = (desc: string) => refusal('badNarrow', { desc });
const wrongType = (operator: string, expected: string) =>
  badRequest(`The operand of '${operator}' in 'narrow' must be ${expected}.`);

/** Undefined if every message meets the condition. */
function criterionOf({ operator, name, operand }: ParsedTerm<Operand>): Criterion<Ref> | undefined {
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
    // Only tells the client where to scroll.
    case 'near':
      return undefined;
    case 'in':
      if (operand === 'all') return undefined;
      if (typeof operand !== 'string') throw wrongType(name, 'a string');
      throw bad(`unknown operand of 'in':  '${operand.slice(0, 60)}'`);
    default:
      throw bad(`unknown operator '${name.slice(0, 60)}'`);
  }
}

function single(operator: string, operand: Operand): string | number {
  if (typeof operand === 'object') throw wrongType(operator, 'one name or one ID');
  return operand;
}

/** The display name of the empty topic means the empty topic. */
function topicIn(operator: string, operand: Operand): string {
  if (typeof operand !== 'string') throw wrongType(operator, 'a string');
  return operand === EMPTY_TOPIC_NAME ? '' : operand;
}

/** A direct conversation by all its people. An empty list matches nothing. */
function dm(operator: string, operand: Operand): Criterion<Ref> {
  if (typeof operand === 'number')
    throw wrongType(operator, 'a list of IDs or a string with email addresses');
  if (typeof operand === 'object' && operand.length === 0) return { kind: 'id', id: NO_MESSAGE };
  return { kind: 'dm', people: people(operator, operand) };
}

function people(operator: string, operand: Operand): readonly Ref[] {
  const list = typeof operand === 'string' ? operand.split(',') : [operand].flat();
  const named = list
    .map((each) => (typeof each === 'string' ? each.trim() : each))
    .filter((each) => each !== '');
  if (named.length === 0) throw bad(`'${operator}' needs at least one user`);
  if (named.length > MAX_PEOPLE) throw bad(`'${operator}' takes at most ${MAX_PEOPLE} users`);
  return named;
}

function idIn(operand: Operand): number {
  if (typeof operand === 'object') throw wrongType('id', 'the ID of a message');
  if (!/^\d{1,15}$/.test(String(operand))) throw bad("the operand of 'id' must be the ID of a message");
  return Number(operand);
}

function stateIn(operand: Operand): State {
  if (typeof operand !== 'string') throw wrongType('is', 'a string');
  const state = states.find((name) => name === (operand === 'private' ? 'dm' : operand));
  if (state === undefined) throw bad(`unknown operand of 'is': '${operand.slice(0, 60)}'`);
  return state;
}

/** The names in a narrow, for the lookup beside the credentials. */
export const narrowLookupKeys = (terms: readonly UnresolvedTerm[]): LookupKey[] =>
  terms.flatMap((term): LookupKey[] => {
    if (term.kind === 'channel') return channelLookupKey(term.channel);
    if (term.kind === 'sender') return accountLookupKey(term.user);
    return 'people' in term ? term.people.flatMap(accountLookupKey) : [];
  });

/** A string longer than any valid name is not looked up. */
const channelLookupKey = (ref: Ref): LookupKey<'channelName'>[] =>
  typeof ref === 'string' && codePoints(ref.trim()) <= limits.channelName
    ? [{ kind: 'channelName', name: ref.trim() }]
    : [];
const accountLookupKey = (ref: Ref): LookupKey<'account'>[] =>
  typeof ref === 'string' && codePoints(ref) <= limits.email ? [{ kind: 'account', email: ref }] : [];

/**
 * Replaces names by ids. Throws `BAD_NARROW` for an unknown email or channel, with the same text as for a hidden one.
 */
export const resolveNarrow = (terms: readonly UnresolvedTerm[], resolved: Resolved, userId: number): Term[] =>
  terms.map((term): Term => {
    switch (term.kind) {
      case 'channel':
        return { ...term, channel: channelId(term.channel, resolved) };
      case 'sender':
        return { ...term, user: personId(term.user, resolved) };
      case 'dm':
      case 'dmIncluding': {
        const named = term.people.map((each) => personId(each, resolved));
        return { ...term, people: uniqueSorted(term.kind === 'dm' ? [...named, userId] : named) };
      }
      default:
        return term;
    }
  });

function personId(ref: Ref, resolved: Resolved): number {
  if (typeof ref === 'number') return ref;
  const [account] = accountLookupKey(ref).map((lookupKey) => resolved.follow(lookupKey));
  if (account === undefined) throw unknownUser();
  return account.userId;
}

function channelId(ref: Ref, resolved: Resolved): number {
  if (typeof ref === 'number' && isId(ref)) return ref;
  const [channel] = channelLookupKey(ref).map((lookupKey) => resolved.follow(lookupKey));
  if (channel === undefined) throw unknownChannel();
  return channel.channelId;
}

export const unknownChannel = () => bad('there is no such channel');
export const unknownUser = () => bad('there is no such user');
