import { badRequest } from '../../kernel/errors.ts';
import { folded } from '../../kernel/text.ts';
import type { Message } from '../../log/message.ts';
import type { User } from '../../model/user/user.ts';
import { termsOf } from '../fetch/narrow.ts';
import { headTest } from '../fetch/narrow-match.ts';
import { type Names, resolveNarrow } from '../fetch/narrow-names.ts';
import { type Operand, parseTerm, type State, type TermParameter } from '../fetch/term.ts';

/** A condition on the messages of a queue, as stored. Names stay names: they mean what has the name at the time. */
export interface EventNarrowTerm {
  readonly operator: string;
  readonly operand: Operand;
  /** Earlier releases took negated conditions, and direct conversations. */
  readonly negated: boolean;
}

/** The operators that the narrow of a queue may have, and the operands of `is` (companion facts 1.14). */
const OPERATORS: readonly string[] = ['channel', 'topic', 'sender', 'is'];
const STATES: readonly string[] = ['dm', 'mentioned', 'unread', 'starred', 'alerted', 'resolved'];

/** Most bytes of a narrow. It is stored in the queue, which every poll reads and writes. */
const MAX_BYTES = 4_000;

/**
 * Checks a narrow for events: few operators, none negated, and at most 4,000 bytes (docs/LIMITS.md). Throws
 * `BAD_REQUEST`.
 */
export function checkEventNarrow(terms: readonly TermParameter<Operand>[]): EventNarrowTerm[] {
  if (Buffer.byteLength(JSON.stringify(terms)) > MAX_BYTES) {
    throw badRequest(`The narrow of an event queue has at most ${MAX_BYTES} bytes.`);
  }
  return terms.map(checkTerm);
}

function checkTerm(given: TermParameter<Operand>): EventNarrowTerm {
  const parsed = parseTerm(given);
  const shown = JSON.stringify(given).slice(0, 100);
  if (parsed.operator === undefined || parsed.negated || !OPERATORS.includes(parsed.operator))
    throw badRequest(`Events cannot be narrowed by ${shown}.`);
  const { operator, operand } = parsed;
  if (operator === 'is' && operand !== 'private' && !STATES.includes(String(operand)))
    throw badRequest(`Events cannot be narrowed by ${shown}.`);
  termsOf(parsed);
  return { operator, operand, negated: false };
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
): boolean =>
  resolveNarrow(narrow.map(parseTerm).flatMap(termsOf), namesOf(message, snapshot), snapshot.userId).every(
    (term) => {
      const test = headTest(term);
      const holds = test ? test(message) : term.kind === 'is' && hasState(term.state, snapshot.flags);
      return holds !== term.negated;
    },
  );

/** An id that no channel and no user has, for names that are not about the message. */
const NOBODY = 0;

/** The names of the message's channel and people. */
function namesOf({ channelId = NOBODY }: Message, { channelName, users }: NarrowSnapshot): Names {
  const isSame = (ref: string, name: string): boolean => folded(ref.trim()) === folded(name);
  return {
    channelId: (ref) => {
      if (typeof ref === 'number') return ref;
      return channelName !== undefined && isSame(ref, channelName) ? channelId : NOBODY;
    },
    userId: (ref) => {
      if (typeof ref === 'number') return ref;
      return [...users.values()].find(({ email }) => isSame(ref, email))?.userId ?? NOBODY;
    },
  };
}

/** Whether the flags of a message say that it is in a state that depends on the reader. */
function hasState(state: State, flags: readonly string[]): boolean {
  switch (state) {
    case 'mentioned':
      return flags.includes('mentioned') || flags.includes('wildcard_mentioned');
    case 'unread':
      return !flags.includes('read');
    case 'starred':
      return flags.includes('starred');
    default:
      return state === 'alerted' && flags.includes('has_alert_word');
  }
}
