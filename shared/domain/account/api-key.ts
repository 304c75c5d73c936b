import { folded } from '../../kernel/folding.ts';
import type { Outside } from '../../kernel/outside.ts';
import { carryOut } from '../../log/carry-out.ts';
import { ConflictError } from '../../log/commit.ts';
import { digestOf, newApiKey } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';

/**
 * Gives the account of this address a new key; the old one is out at once. Nobody is told of it, so no event goes
 * with it. `held` is the digest of the key that the account must still have; if it has another one, throws `ConflictError`.
 *
 * The new key is known only here: should a reply be lost, the item itself tells whether it was stored.
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
