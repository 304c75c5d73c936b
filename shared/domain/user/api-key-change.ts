import { Stale } from '../../log/commit.ts';
import { backoff } from '../../log/log.ts';
import { key } from '../../table/keys.ts';
import { folded } from '../folding.ts';
import type { Outside } from '../outside.ts';
import { digestOf, newApiKey } from './api-key.ts';

/** How long (ms) a change of a key is tried when nothing is heard of it, well below the time of its function. */
const PATIENCE = 6_000;

/**
 * Gives the account of this address a new key; the old one is out at once. Nobody is told of it, so no event goes
 * with it. `held` is the digest of the key that the account must still have; if it has another one, throws `Stale`.
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
  const token = outside.uuid();
  const started = outside.now();
  for (let attempt = 0; ; attempt++) {
    const outcome = await outside.table.transact(
      [
        {
          update: key('account', { realm, email: folded(email) }),
          change: { set: { keyDigest } },
          when: { absent: false, ...(held !== undefined && { equals: { keyDigest: held } }) },
        },
      ],
      token,
    );
    if (outcome.state === 'done') return apiKey;
    if (outcome.state === 'refused') {
      const [refused] = outcome.refused;
      if (refused?.item?.keyDigest === keyDigest) return apiKey;
      throw new Stale(outcome.refused.map(({ item }) => item));
    }
    if (outside.now() - started > PATIENCE) throw outcome.cause;
    await outside.wait(backoff(attempt));
  }
}
