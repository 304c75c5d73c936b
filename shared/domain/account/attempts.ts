import { refusal } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { digestOf } from '../../kernel/text.ts';
import { type Key, key } from '../../table/keys.ts';
import { isRefused } from '../../table/outcome.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    attempts: { readonly attempts: number };
  }
}

const HOUR_MS = 3_600_000;

/** Most attempts of strangers in a window of time (companion facts 5). */
const limits = {
  'sign-in to an account': { most: 5, windowMs: HOUR_MS / 2 },
  'sign-in from an address': { most: 20, windowMs: HOUR_MS / 2 },
  'password link for an account': { most: 2, windowMs: HOUR_MS },
  'password link for an account in a day': { most: 5, windowMs: 24 * HOUR_MS },
  'password link from an address': { most: 5, windowMs: 24 * HOUR_MS },
} as const;

type Limit = keyof typeof limits;

/** The count in this window. The subject is stored as a digest: it may be any text that a stranger sent. */
const attemptsKey = (realm: string, limit: Limit, subject: string, now: number): Key<'attempts'> =>
  key('attempts', {
    realm,
    subject: digestOf(`${limit}:${subject}`),
    window: Math.floor(now / limits[limit].windowMs),
  });

/**
 * Counts an attempt. One write unit.
 *
 * @param subject the email address of the account, folded, or the network address
 * @throws Refusal `RATE_LIMIT_HIT` if there were too many
 */
export async function requireAttempt(
  { table, now }: Pick<Outside, 'table' | 'now'>,
  realm: string,
  limit: Limit,
  subject: string,
): Promise<void> {
  const { most, windowMs } = limits[limit];
  const end = (Math.floor(now() / windowMs) + 1) * windowMs;
  try {
    const change = { add: { attempts: 1 }, setOnce: { expires: (end + windowMs) / 1_000 } };
    await table.update(attemptsKey(realm, limit, subject, now()), change, { below: { attempts: most } });
  } catch (error) {
    if (!isRefused(error)) throw error;
    throw refusal('tooManyRequests', { seconds: Math.max(1, end - now()) / 1_000 });
  }
}

/** Takes the count back, after a success. */
export const forgetAttempts = (
  { table, now }: Pick<Outside, 'table' | 'now'>,
  realm: string,
  limit: Limit,
  subject: string,
): Promise<unknown> => table.update(attemptsKey(realm, limit, subject, now()), { set: { attempts: 0 } });
