import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { carryOut } from '../../log/carry-out.ts';
import { ConflictError } from '../../log/commit.ts';
import { retryOnConflict } from '../../log/retry-on-conflict.ts';
import { key } from '../../table/keys.ts';
import type { MailAddress } from './channel-mail.ts';
import { recipientAt } from './mail-recipient.ts';

/**
 * Ends an address at which a channel takes mail, for an operator: mail to it is dropped from now on. Whoever it was made
 * for is given another one when they ask for it the next time. The reference has no endpoint for this.
 *
 * @param given the address as it leaked, with or without what else it says (`show-sender`)
 * @returns what the address stood for
 * @throws Refusal `BAD_REQUEST` where it leads nowhere
 */
export async function endMailAddress(outside: Outside, given: string): Promise<MailAddress> {
  const address = given.trim().toLowerCase();
  const token = recipientAt(address, address.slice(address.lastIndexOf('@') + 1))?.token;
  const missing = badRequest(`'${given}' is not an address at which a channel takes mail.`);
  if (token === undefined) throw missing;
  return retryOnConflict(outside, async () => {
    const found = await outside.table.get('mailToken', { token });
    if (found === undefined) throw missing;
    const outcome = await carryOut(outside, [
      { delete: key('mailToken', { token }), when: { absent: false } },
      { delete: key('mailAddress', { ...found }), when: { equals: { token } } },
    ]);
    if (outcome.state === 'done') return found;
    // Somebody else ended it in this moment.
    throw new ConflictError(outcome.refused.map(({ item }) => item));
  });
}
