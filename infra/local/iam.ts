/** One thing that a call wants to do: an IAM action (`dynamodb:PutItem`) on a resource (an ARN, or `*`). */
export interface Access {
  readonly action: string;
  readonly resource: string;
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
 * @throws Error when a statement uses something that is not evaluated here (a condition, a principal), because a
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
  return { effect, covers: (access) => action(access.action) && resource(access.resource) };
}

const readable = new Set(['Sid', 'Effect', 'Action', 'NotAction', 'Resource', 'NotResource']);

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
