import { badRequest } from '../../kernel/errors.ts';
import { folded } from '../../kernel/text.ts';
import { isEmail } from '../../model/user/name.ts';

/** The addresses in a request to invite people, each once. */
export interface InvitedAddresses {
  readonly valid: readonly string[];
  /** As the caller wrote them. */
  readonly invalid: readonly string[];
}

/** Most addresses in one request: all invitations of a request are made in one transaction. */
const MAX_ADDRESSES = 40;

/**
 * Reads addresses that are separated by commas or line ends, each alone or as `Name <address>` (companion facts 3.8).
 *
 * @throws Refusal `BAD_REQUEST` if there is none, or too many
 */
export function parseAddresses(text: string): InvitedAddresses {
  const valid = new Map<string, string>();
  const invalid = new Set<string>();
  for (const part of text.split(/[,\r\n]/)) {
    const given = part.trim();
    if (given === '') continue;
    const address = (given.endsWith('>') ? given.slice(given.lastIndexOf('<') + 1, -1) : given).trim();
    if (!isEmail(address)) invalid.add(given);
    else if (!valid.has(folded(address))) valid.set(folded(address), address);
  }
  const count = valid.size + invalid.size;
  if (count === 0) throw badRequest('Name at least one email address.');
  if (count > MAX_ADDRESSES) {
    throw badRequest(`One request invites at most ${MAX_ADDRESSES} people; send several.`);
  }
  return { valid: [...valid.values()], invalid: [...invalid] };
}
