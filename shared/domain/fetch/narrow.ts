import { refusal } from '../../kernel/errors.ts';
import {
  type Criterion,
  criterionOf,
  messageIdIn,
  type Operand,
  type ParsedTerm,
  parseTerm,
  type Ref,
  type State,
  type TermParameter,
  unknownOperator,
} from './term.ts';

/** A narrow as clients send it: conditions that must all hold. */
export type NarrowParameter = readonly TermParameter<Operand>[];

/** A condition with ids and names as the client sent them, and one with ids only. */
export type UnresolvedTerm = Criterion<Ref> & { readonly negated: boolean };
export type Term = Criterion<number> & { readonly negated: boolean };

/** A narrow whose operators and operands are known. */
export interface UnresolvedNarrow {
  readonly terms: readonly UnresolvedTerm[];
  /** A message (`with`): its present conversation stands for the one that the conditions name. */
  readonly with?: number;
}

/** Whether a condition is `is:<state>`, negated or not. */
export const isState = (state: State, term: UnresolvedTerm): boolean =>
  term.kind === 'is' && term.state === state;

/**
 * Parses a narrow (companion facts 1.14).
 *
 * @throws Refusal `BAD_NARROW` for unknown operators and operands, since ignoring one would return other messages, and for
 *   conditions that cannot hold together; `BAD_REQUEST` for an operand of the wrong JSON type.
 */
export function checkNarrow(narrow: NarrowParameter): UnresolvedNarrow {
  const messages: number[] = [];
  const all = narrow.map(parseTerm).flatMap((parsed): UnresolvedTerm[] => {
    if (parsed.operator !== 'with') return termsOf(parsed);
    messages.push(messageIdIn(parsed.name, parsed.operand));
    return [];
  });
  const terms = withOneSearch(all);
  const [message, ...others] = messages;
  if (message === undefined) {
    checkTogether(terms);
    return { terms };
  }
  if (others.length > 0) throw refusal('badNarrow', { desc: "more than one 'with'" });
  return { terms, with: message };
}

/** Several searches are one for all that they ask for. */
function withOneSearch(terms: readonly UnresolvedTerm[]): UnresolvedTerm[] {
  const isSearch = (term: UnresolvedTerm) => term.kind === 'search' && !term.negated;
  const texts = terms.flatMap((term) => (term.kind === 'search' && !term.negated ? [term.text] : []));
  const others = terms.filter((term) => !isSearch(term));
  return texts.length === 0 ? others : [...others, { kind: 'search', text: texts.join(' '), negated: false }];
}

/** The text of the search of a narrow; undefined if it has none. */
export const searchIn = (terms: readonly Term[]): string | undefined =>
  terms.flatMap((term) => (term.kind === 'search' && !term.negated ? [term.text] : []))[0];

/** A condition with its operand; none if every message meets it. */
export function termsOf(parsed: ParsedTerm): UnresolvedTerm[] {
  const criterion = criterionOf(parsed);
  return criterion === undefined ? [] : [{ ...criterion, negated: parsed.negated }];
}

/** Parses a narrow about given messages, for which `with` is no operator (companion facts 1.8). Throws as `checkNarrow`. */
export function checkNarrowOfMessages(narrow: NarrowParameter): readonly UnresolvedTerm[] {
  const { terms, with: message } = checkNarrow(narrow);
  if (message !== undefined) throw unknownOperator('with');
  return terms;
}

/** Refuses a narrow that asks for channel messages and for direct ones (companion facts 1.14). */
export function checkTogether(terms: readonly UnresolvedTerm[]): void {
  if (terms.some(wantsChannel) && terms.some(wantsDirect))
    throw refusal('badNarrow', { desc: 'no message is in a channel and direct' });
}

const wantsChannel = (term: UnresolvedTerm): boolean =>
  term.negated
    ? isState('dm', term)
    : term.kind === 'channel' || term.kind === 'channels' || term.kind === 'topic';

const wantsDirect = (term: UnresolvedTerm): boolean =>
  !term.negated &&
  (term.kind === 'dm' ||
    term.kind === 'dmIncluding' ||
    term.kind === 'groupDmIncluding' ||
    isState('dm', term));

/** Whether a condition names a conversation or a part of one, which that of the message of `with` replaces. */
const isReplaced = ({ kind }: UnresolvedTerm): boolean =>
  kind === 'channel' || kind === 'topic' || kind === 'dm';

/** The conditions with those on the conversation replaced by the conversation itself (companion facts 1.14). */
export function withConversation(
  terms: readonly UnresolvedTerm[],
  { channelId, topic = '', people = [] }: { channelId?: number; topic?: string; people?: readonly number[] },
): UnresolvedTerm[] {
  const conversation: Criterion<number>[] =
    channelId === undefined
      ? [{ kind: 'dm', people }]
      : [
          { kind: 'channel', channel: channelId },
          { kind: 'topic', topic },
        ];
  const placed = conversation.map((criterion) => ({ ...criterion, negated: false }));
  return [...placed, ...terms.filter((term) => !isReplaced(term))];
}

/** Whether the conditions name one conversation, so that a message of `with` is not needed to find it. */
export function namesConversation(terms: readonly UnresolvedTerm[]): boolean {
  const kinds = new Set(terms.filter(({ negated }) => !negated).map(({ kind }) => kind));
  return kinds.has('dm') || (kinds.has('channel') && kinds.has('topic'));
}

/**
 * Whether a narrow may show channel messages that the reader did not receive: it names a channel, or for members all public
 * ones. Any `is:` but `is:resolved` is about received messages (companion facts 1.14).
 */
export const includesHistory = (terms: readonly Term[], isGuest: boolean): boolean =>
  terms.every((term) => term.kind !== 'is' || term.state === 'resolved') &&
  terms.some(
    (term) =>
      !term.negated &&
      (term.kind === 'channel' || (term.kind === 'channels' && term.channels === 'public' && !isGuest)),
  );
