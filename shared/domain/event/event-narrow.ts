import { badRequest } from '../../kernel/errors.ts';
import { folded } from '../../kernel/folding.ts';
import type { Message } from '../../log/message.ts';
import { isResolved } from '../../model/message/message.ts';
import { EMPTY_TOPIC_NAME } from '../../model/realm/realm.ts';
import type { User } from '../../model/user/user.ts';
import { parseTerm, type TermParameter } from '../fetch/narrow.ts';

/** A name, an address or addresses, an id, or ids. */
type Operand = string | number | readonly number[];

/** One condition that a queue puts on its messages, as stored. */
export interface EventNarrowTerm {
  readonly operator: (typeof OPERATORS)[number];
  readonly operand: Operand;
  /** What must not hold. */
  readonly negated: boolean;
}

/** Operators that one message alone can answer. */
const OPERATORS = ['channel', 'topic', 'sender', 'is', 'dm'] as const;

/** What `is` can ask of a message that has just arrived. */
const STATES = new Set(['dm', 'private', 'mentioned', 'unread', 'starred', 'alerted', 'resolved']);

/** Most bytes of a narrow: it is stored with its queue, which every poll reads and writes. */
const MAX_BYTES = 4_000;

/**
 * Decides on a narrow for events: only conditions that one message alone can answer, and no more of them than a queue
 * can hold (docs/LIMITS.md). Throws `BAD_REQUEST`.
 */
export function checkEventNarrow(given: readonly TermParameter<Operand>[]): EventNarrowTerm[] {
  if (Buffer.byteLength(JSON.stringify(given)) > MAX_BYTES) {
    throw badRequest(`The narrow of an event queue has at most ${MAX_BYTES} bytes.`);
  }
  return given.map(checkTerm);
}

function checkTerm(given: TermParameter<Operand>): EventNarrowTerm {
  const { name, operand, negated, ...term } = parseTerm(given);
  const operator = OPERATORS.find((followed) => followed === term.operator);
  if (operator === undefined) throw badRequest(`Events cannot be narrowed by '${name.slice(0, 60)}'.`);
  if (operator === 'is' && !STATES.has(String(operand))) {
    throw badRequest(`Events cannot be narrowed to 'is:${String(operand).slice(0, 60)}'.`);
  }
  if (typeof operand === 'object' && operator !== 'dm') {
    throw badRequest(`The operand of '${name}' is of the wrong type.`);
  }
  return { operator, operand, negated };
}

/** What a narrow looks at besides the message. */
export interface NarrowSnapshot {
  readonly userId: number;
  /** The sender and the people of a direct message, by id. */
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

/** Whether a direct message is one between the reader and just these people, told by ids or by addresses. */
function isWith({ people }: Message, operand: Operand, { userId, users }: NarrowSnapshot): boolean {
  if (people === undefined) return false;
  const names = (ids: readonly number[]): string[] =>
    typeof operand === 'string' ? ids.map((id) => folded(users.get(id)?.email ?? '')) : ids.map(String);
  const wanted =
    typeof operand === 'string'
      ? operand.split(',').map((email) => folded(email.trim()))
      : [operand].flat().map(String);
  const own = names([userId]);
  return isSameSet(new Set([...wanted, ...own]), new Set(names(people)));
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
