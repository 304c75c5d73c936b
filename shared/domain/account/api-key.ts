import { folded } from '../../kernel/folding.ts';
import type { Outside } from '../../kernel/outside.ts';
import { carryOut } from '../../log/carry-out.ts';
import { ConflictError } from '../../log/commit.ts';
import { digestOf, newApiKey } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';

/**
 * Replaces the key of an account; the old one stops working at once. There is no event. Only the caller learns the
 * new key: if the reply of the store is lost, the item shows whether it was stored.
 *
 * @param held digest of the key that the account must still have
 * @throws ConflictError if it has another one
 */
export async function changeKey(
  outside: Outside,
  realm: string,
  email: string,
  held?: string,
): Promise<string> {
  const apiKey = newApiKey(outside);
  const keyDigest = digestOf(apiKey);
  const outcome = await carryOut(outside, [
    {
      update: key('account', { realm, email: folded(email) }),
      change: { set: { keyDigest } },
      when: { absent: false, ...(held !== undefined && { equals: { keyDigest: held } }) },
    },
  ]);
  if (outcome.state === 'done' || outcome.refused[0]?.item?.keyDigest === keyDigest) return apiKey;
  throw new ConflictError(outcome.refused.map(({ item }) => item));
}
