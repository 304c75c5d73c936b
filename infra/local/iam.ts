/** One thing that a call wants to do: an IAM action (`dynamodb:PutItem`) on a resource (an ARN, or `*`). */
export interface Access {
  readonly action: string;
  readonly resource: string;
  /** Partition keys of the items that a call of DynamoDB is about, where they are looked at. */
  readonly leadingKeys?: readonly string[];
}

/** One statement of a role's policies, with its lists made plain. */
export interface Statement {
  readonly effect: 'Allow' | 'Deny';
  readonly covers: (access: Access) => boolean;
}

/** How IAM came to its answer; the two refusals are worded differently, as on AWS. */
export type Verdict = 'allowed' | 'not allowed' | 'denied';

/**
 * Reads a policy document whose values are already resolved (no `Fn::GetAtt` left).
 *
 * @throws Error when a statement uses something that is not evaluated here (another condition, a principal), because a
 *   statement read only in part would grant on a laptop what AWS refuses.
 */
export function readPolicy(document: unknown): Statement[] {
  const statements = asRecord(document, 'A policy document').Statement;
  return (Array.isArray(statements) ? statements : [statements]).map(readStatement);
}

/** What IAM answers for identity-based policies: an explicit deny wins, and what nothing allows is refused. */
export function evaluate(statements: readonly Statement[], access: Access): Verdict {
  const matching = statements.filter((statement) => statement.covers(access));
  if (matching.some((statement) => statement.effect === 'Deny')) return 'denied';
  return matching.length > 0 ? 'allowed' : 'not allowed';
}

function readStatement(value: unknown): Statement {
  const statement = asRecord(value, 'A policy statement');
  for (const key of Object.keys(statement)) {
    if (!readable.has(key))
      throw new Error(`The local cloud cannot evaluate "${key}" in a policy statement.`);
  }
  const { Effect: effect } = statement;
  if (effect !== 'Allow' && effect !== 'Deny')
    throw new Error('A policy statement needs the effect Allow or Deny.');
  // The names of actions may be written in any case, those of resources may not.
  const action = matcher(statement.Action, statement.NotAction, 'i');
  const resource = matcher(statement.Resource, statement.NotResource);
  const condition = readCondition(statement.Condition);
  return {
    effect,
    covers: (access) => action(access.action) && resource(access.resource) && condition(access),
  };
}

const readable = new Set(['Sid', 'Effect', 'Action', 'NotAction', 'Resource', 'NotResource', 'Condition']);

/** The one condition that is evaluated here: which partitions of a table a statement is about. */
const KEYS_ALIKE = 'ForAllValues:StringLike';
const LEADING_KEYS = 'dynamodb:LeadingKeys';

function readCondition(value: unknown): (access: Access) => boolean {
  if (value === undefined) return () => true;
  const [operator, ...otherOperators] = Object.entries(asRecord(value, 'A condition'));
  const [key, ...otherKeys] = Object.entries(asRecord(operator?.[1], 'An operator of a condition'));
  const isKnown = operator?.[0] === KEYS_ALIKE && key?.[0] === LEADING_KEYS;
  if (!isKnown || otherOperators.length > 0 || otherKeys.length > 0)
    throw new Error(`The local cloud evaluates no condition but ${KEYS_ALIKE} of ${LEADING_KEYS}.`);
  const isAlike = matcher(key[1], undefined);
  // A call whose keys are not looked at is not let through.
  return ({ leadingKeys }) => leadingKeys?.every(isAlike) ?? false;
}

/** A text matches one of the wanted patterns, or, where the statement is turned round, none of the unwanted. */
function matcher(wanted: unknown, unwanted: unknown, flags = ''): (text: string) => boolean {
  const given = wanted ?? unwanted;
  if (given === undefined) throw new Error('A policy statement needs actions and resources.');
  const patterns = (Array.isArray(given) ? given : [given]).map((pattern) =>
    wildcard(String(pattern), flags),
  );
  return (text) => patterns.some((matches) => matches(text)) === (wanted !== undefined);
}

/** IAM's patterns: `*` is any run of characters, also across `/` and `:`, and `?` is any one character. */
export function wildcard(pattern: string, flags = ''): (text: string) => boolean {
  const source = pattern
    .replace(/[\\^$.|+()[\]{}]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const expression = new RegExp(`^${source}$`, `s${flags}`);
  return (text) => expression.test(text);
}

function asRecord(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${what} must be an object.`);
  return value as Record<string, unknown>;
}
