import { badRequest, refusal } from '../../kernel/errors.ts';
import { EMPTY_TOPIC_NAME } from '../../model/realm/realm.ts';
import { MAX_PEOPLE } from '../send/request.ts';

/** A condition of a narrow as clients send it: a pair, or an object. `O`: the type of an operand. */
export type TermParameter<O> =
  | readonly [string, O]
  | { readonly operator: string; readonly operand: O; readonly negated?: boolean | undefined };

/** What a condition is about: one or more names, one or more ids, or a word. */
export type Operand = string | number | readonly (string | number)[];

/** The operators under all their names, deprecated ones included (companion facts 1.14). */
const operators = {
  channel: 'channel',
  stream: 'channel',
  channels: 'channels',
  streams: 'channels',
  topic: 'topic',
  subject: 'topic',
  dm: 'dm',
  'pm-with': 'dm',
  pm_with: 'dm',
  'dm-including': 'dmIncluding',
  'group-pm-with': 'groupDmIncluding',
  group_pm_with: 'groupDmIncluding',
  sender: 'sender',
  from: 'sender',
  mentions: 'mentions',
  id: 'id',
  is: 'is',
  has: 'has',
  search: 'search',
  in: 'in',
  with: 'with',
  near: 'near',
} as const;

type Operator = (typeof operators)[keyof typeof operators];

/** A condition whose operand is not checked yet. */
export interface ParsedTerm {
  /** Undefined if no operator has this name. */
  readonly operator: Operator | undefined;
  /** The name that the client used. */
  readonly name: string;
  readonly operand: Operand;
  readonly negated: boolean;
}

const isPair = <O>(term: TermParameter<O>): term is readonly [string, O] => Array.isArray(term);

/** Finds the operator of a condition. */
export function parseTerm(input: TermParameter<Operand>): ParsedTerm {
  const term = isPair(input) ? { operator: input[0], operand: input[1] } : input;
  const name = term.operator.toLowerCase();
  const operator = Object.hasOwn(operators, name) ? operators[name as keyof typeof operators] : undefined;
  return { operator, name, operand: term.operand, negated: 'negated' in term && term.negated === true };
}

/** The operands of `is`, under their present names. */
const states = ['dm', 'mentioned', 'starred', 'unread', 'followed', 'muted', 'resolved', 'alerted'] as const;
export type State = (typeof states)[number];

/** The operands of `channels`. */
const channelSets = ['public', 'web-public', 'archived'] as const;
export type ChannelSet = (typeof channelSets)[number];

/** The operands of `has`. */
const parts = ['link', 'image', 'attachment', 'reaction'] as const;
export type Part = (typeof parts)[number];

/** A user by id or email, or a channel by id or name. */
export type Ref = number | string;

/** What a message must be. `R` names channels and users. */
export type Criterion<R extends Ref> =
  | { readonly kind: 'channel'; readonly channel: R }
  | { readonly kind: 'channels'; readonly channels: ChannelSet }
  | { readonly kind: 'topic'; readonly topic: string }
  /** A direct message between exactly these people and the reader; without people none. */
  | { readonly kind: 'dm'; readonly people: readonly R[] }
  /** A direct message with all of these people, and one with more than two people. */
  | { readonly kind: 'dmIncluding'; readonly people: readonly R[] }
  | { readonly kind: 'groupDmIncluding'; readonly people: readonly R[] }
  | { readonly kind: 'sender'; readonly user: R }
  /** It mentions the user by name, not silently. */
  | { readonly kind: 'mentions'; readonly user: R }
  | { readonly kind: 'id'; readonly id: number }
  | { readonly kind: 'is'; readonly state: State }
  /** It is not muted: `in:home`. */
  | { readonly kind: 'home' }
  | { readonly kind: 'has'; readonly part: Part }
  /** Its text matches a search (companion facts 1.15). */
  | { readonly kind: 'search'; readonly text: string };

const bad = (desc: string) => refusal('badNarrow', { desc });
const shown = (text: string): string => `'${text.slice(0, 60)}'`;
const wrongType = (operator: string, expected: string) =>
  badRequest(`The operand of '${operator}' in 'narrow' must be ${expected}.`);

/** The refusal of an operator that no narrow of this request can have. */
export const unknownOperator = (name: string) => bad(`unknown operator ${shown(name)}`);

/**
 * Checks the operand of a condition. Undefined if every message meets the condition.
 *
 * @throws Refusal `BAD_NARROW` for an unknown operand, `BAD_REQUEST` for one of the wrong JSON type.
 */
export function criterionOf({ operator, name, operand }: ParsedTerm): Criterion<Ref> | undefined {
  switch (operator) {
    case 'channel':
      return { kind: 'channel', channel: single(name, operand) };
    case 'channels':
      return { kind: 'channels', channels: wordIn(channelSets, name, operand) };
    case 'topic':
      return { kind: 'topic', topic: topicIn(name, operand) };
    case 'dm':
      return dm(name, operand);
    case 'dmIncluding':
      return { kind: 'dmIncluding', people: people(name, operand) };
    case 'groupDmIncluding':
      return { kind: 'groupDmIncluding', people: [single(name, operand)] };
    case 'sender':
      return { kind: 'sender', user: single(name, operand) };
    case 'mentions':
      return { kind: 'mentions', user: single(name, operand) };
    case 'id':
      return { kind: 'id', id: messageIdIn(name, operand) };
    case 'is':
      return { kind: 'is', state: operand === 'private' ? 'dm' : wordIn(states, name, operand) };
    case 'has':
      return { kind: 'has', part: wordIn(parts, name, operand) };
    case 'search':
      return { kind: 'search', text: searchIn(name, operand) };
    case 'in':
      return wordIn(['all', 'home'], name, operand) === 'all' ? undefined : { kind: 'home' };
    // Only tells the client where to scroll.
    case 'near':
      return undefined;
    default:
      throw unknownOperator(name);
  }
}

function single(operator: string, operand: Operand): Ref {
  if (typeof operand === 'object') throw wrongType(operator, 'one name or one ID');
  return operand;
}

function wordIn<W extends string>(words: readonly W[], operator: string, operand: Operand): W {
  if (typeof operand !== 'string') throw wrongType(operator, 'a string');
  const word = words.find((each) => each === operand);
  if (word === undefined) throw bad(`unknown operand of '${operator}': ${shown(operand)}`);
  return word;
}

/** The display name of the empty topic means the empty topic. */
function topicIn(operator: string, operand: Operand): string {
  if (typeof operand !== 'string') throw wrongType(operator, 'a string');
  return operand === EMPTY_TOPIC_NAME ? '' : operand;
}

function searchIn(operator: string, operand: Operand): string {
  if (typeof operand !== 'string' || operand === '') throw wrongType(operator, 'a string that is not empty');
  return operand;
}

function dm(operator: string, operand: Operand): Criterion<Ref> {
  if (typeof operand === 'number')
    throw wrongType(operator, 'a list of IDs or a string with email addresses');
  const isNobody = typeof operand === 'object' && operand.length === 0;
  return { kind: 'dm', people: isNobody ? [] : people(operator, operand) };
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

/** The largest id of a message that clients may name. */
const MAX_MESSAGE_ID = 2_147_483_647;

/** The id of a message: an integer, or text of digits. Throws `BAD_NARROW`, or `BAD_REQUEST` for a list. */
export function messageIdIn(operator: string, operand: Operand): number {
  if (typeof operand === 'object') throw wrongType(operator, 'the ID of a message');
  if (!/^\d{1,10}$/.test(String(operand)) || Number(operand) > MAX_MESSAGE_ID)
    throw bad(`the operand of '${operator}' must be the ID of a message`);
  return Number(operand);
}
