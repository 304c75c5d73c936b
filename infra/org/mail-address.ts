import type { MailAddress } from '../../shared/domain/mail/channel-address.ts';
import { recipientAt } from '../../shared/domain/mail/recipient.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import type { Outside } from '../../shared/kernel/outside.ts';
import { carryOut } from '../../shared/log/carry-out.ts';
import { ConflictError, retryOnConflict } from '../../shared/log/commit.ts';
import { key } from '../../shared/table/keys.ts';

/**
 * Revokes the address of a channel: from now on, mail to it is dropped. Its user gets a new address at the next request.
 *
 * @param given the leaked address, with or without its options (`show-sender`)
 * @returns the revoked address
 * @throws Refusal `BAD_REQUEST` if there is no such address
 */
export async function endMailAddress(outside: Outside, given: string): Promise<MailAddress> {
  const address = given.trim().toLowerCase();
  const token = recipientAt(address, address.slice(address.lastIndexOf('@') + 1))?.token;
  const missing = badRequest(`'${given}' is not the email address of a channel.`);
  if (token === undefined) throw missing;
  return retryOnConflict(outside, async () => {
    const found = await outside.table.get('mailToken', { token });
    if (found === undefined) throw missing;
    const outcome = await carryOut(outside, [
      { delete: key('mailToken', { token }), when: { absent: false } },
      { delete: key('mailAddress', { ...found }), when: { equals: { token } } },
    ]);
    if (outcome.state === 'done') return found;
    // Another request has just revoked it.
    throw new ConflictError(outcome.refused.map(({ item }) => item));
  });
}
