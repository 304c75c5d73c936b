import { badRequest } from '../../kernel/errors.ts';
import { folded } from '../../kernel/text.ts';
import { parseSubscriptions } from './subscribe.ts';
import { parseRemovals } from './unsubscribe.ts';

/** The parameters of `PATCH /users/me/subscriptions`. */
interface ChangeParameters {
  readonly add?: Parameters<typeof parseSubscriptions>[0]['subscriptions'] | undefined;
  readonly delete?: readonly string[] | undefined;
}

/**
 * Parses a request of a user to join some channels and leave others (companion facts 3.6).
 *
 * @throws Refusal `BAD_REQUEST` also for a channel that is in both lists
 */
export function parseSubscriptionChanges({ add: added = [], delete: gone = [] }: ChangeParameters) {
  if (added.length === 0 && gone.length === 0) throw badRequest("Send channels in 'add' or in 'delete'.");
  const add = parseSubscriptions({ subscriptions: added });
  const remove = parseRemovals({ subscriptions: gone });
  const leaves = new Set(remove.names.map(folded));
  const both = add.names.find((name) => leaves.has(folded(name)));
  if (both !== undefined) throw badRequest(`'${both}' is in 'add' and in 'delete'.`);
  return { add, remove };
}
