import { badRequest } from '../../kernel/errors.ts';
import { folded } from '../../kernel/folding.ts';
import type { Message } from '../../log/message.ts';
import { isResolved } from '../../model/message/message.ts';
import { EMPTY_TOPIC_NAME } from '../../model/realm/realm.ts';
import type { User } from '../../model/user/user.ts';
import { parseTerm, type TermParameter } from '../fetch/narrow.ts';

/** A name, one or more email addresses, an id, or ids. */
type Operand = string | number | readonly number[];

/** A condition on the messages of a queue, as stored. */
export interface EventNarrowTerm {
  readonly operator: (typeof OPERATORS)[number];
  readonly operand: Operand;
  readonly negated: boolean;
}

/** Operators that can be decided from the message alone. */
const OPERATORS = ['channel', 'topic', 'sender', 'is', 'dm'] as const;

/** Operands of `is` that can be decided for a new message. */
const STATES = new Set(['dm', 'private', 'mentioned', 'unread', 'starred', 'alerted', 'resolved']);

/** Most bytes of a narrow. It is stored in the queue, which every poll reads and writes. */
const MAX_BYTES = 4_000;

/**
 * Checks a narrow for events: only conditions that can be decided from the message alone, and at most 4,000 bytes
 * (docs/LIMITS.md). Throws `BAD_REQUEST`.
 */
export function checkEventNarrow(terms: readonly TermParameter<Operand>[]): EventNarrowTerm[] {
  if (Buffer.byteLength(JSON.stringify(terms)) > MAX_BYTES) {
    throw badRequest(`The narrow of an event queue has at most ${MAX_BYTES} bytes.`);
  }
  return terms.map(checkTerm);
}

function checkTerm(input: TermParameter<Operand>): EventNarrowTerm {
  const { name, operand, negated, ...term } = parseTerm(input);
  const operator = OPERATORS.find((supported) => supported === term.operator);
  if (operator === undefined) throw badRequest(`Events cannot be narrowed by '${name.slice(0, 60)}'.`);
  if (operator === 'is' && !STATES.has(String(operand))) {
    throw badRequest(`Events cannot be narrowed to 'is:${String(operand).slice(0, 60)}'.`);
  }
  if (typeof operand === 'object' && operator !== 'dm') {
    throw badRequest(`The operand of '${name}' is of the wrong type.`);
  }
  return { operator, operand, negated };
}

/** What a narrow is matched against besides the message. */
export interface NarrowSnapshot {
  readonly userId: number;
  /** The sender and the participants of a direct message, by id. */
  readonly users: ReadonlyMap<number, User>;
  readonly channelName: string | undefined;
  readonly flags: readonly string[];
}

/** Whether a message meets all conditions of a narrow. */
export const matchesNarrow = (
  narrow: readonly EventNarrowTerm[],
  message: Message,
  snapshot: NarrowSnapshot,
): boolean => narrow.every((term) => holdsFor(term, message, snapshot) !== term.negated);

function holdsFor(
  { operator, operand }: EventNarrowTerm,
  message: Message,
  snapshot: NarrowSnapshot,
): boolean {
  const isNamed = (name: string | undefined): boolean =>
    typeof operand === 'string' && name !== undefined && folded(operand.trim()) === folded(name);
  switch (operator) {
    case 'channel':
      return operand === message.channelId || isNamed(snapshot.channelName);
    case 'topic':
      return (
        message.channelId !== undefined &&
        (isNamed(message.topic) || (message.topic === '' && operand === EMPTY_TOPIC_NAME))
      );
    case 'sender':
      return operand === message.senderId || isNamed(snapshot.users.get(message.senderId)?.email);
    case 'dm':
      return isWith(message, operand, snapshot);
    case 'is':
      return isInState(message, String(operand), snapshot.flags);
  }
}

/** Whether a direct message is between the listener and exactly these users, as ids or email addresses. */
function isWith({ people }: Message, operand: Operand, { userId, users }: NarrowSnapshot): boolean {
  if (people === undefined) return false;
  const names = (ids: readonly number[]): string[] =>
    typeof operand === 'string' ? ids.map((id) => folded(users.get(id)?.email ?? '')) : ids.map(String);
  const others =
    typeof operand === 'string'
      ? operand.split(',').map((email) => folded(email.trim()))
      : [operand].flat().map(String);
  const own = names([userId]);
  return isSameSet(new Set([...others, ...own]), new Set(names(people)));
}

const isSameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((value) => b.has(value));

function isInState(message: Message, state: string, flags: readonly string[]): boolean {
  switch (state) {
    case 'dm':
    case 'private':
      return message.people !== undefined;
    case 'mentioned':
      return flags.includes('mentioned') || flags.includes('wildcard_mentioned');
    case 'unread':
      return !flags.includes('read');
    case 'starred':
      return flags.includes('starred');
    case 'resolved':
      return isResolved(message.topic ?? '');
    default:
      return flags.includes('has_alert_word');
  }
}
