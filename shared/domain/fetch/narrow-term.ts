/** One condition of a narrow as clients send it: a pair, or an object. `O` is what an operand can be. */
export type GivenTerm<O> =
  | readonly [string, O]
  | { readonly operator: string; readonly operand: O; readonly negated?: boolean | undefined };

/** Operators under all names that clients may use for them. */
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

/** A condition whose operator was looked up. */
export interface ReadTerm<O> {
  /** Undefined for a name that no operator has. */
  readonly operator: Operator | undefined;
  /** The name that the client used. */
  readonly name: string;
  readonly operand: O;
  readonly negated: boolean;
}

const isPair = <O>(term: GivenTerm<O>): term is readonly [string, O] => Array.isArray(term);

/** Reads one condition. Which operators and operands are followed is up to the caller. */
export function readTerm<O>(given: GivenTerm<O>, ignoresCase = false): ReadTerm<O> {
  const term = isPair(given) ? { operator: given[0], operand: given[1] } : given;
  const name = ignoresCase ? term.operator.toLowerCase() : term.operator;
  const operator = Object.hasOwn(operators, name) ? operators[name as keyof typeof operators] : undefined;
  return { operator, name, operand: term.operand, negated: 'negated' in term && term.negated === true };
}
