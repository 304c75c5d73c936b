import { badRequest } from '../../kernel/errors.ts';
import { unprintableAt } from '../../kernel/folding.ts';
import { isWithin, usualBounds } from '../../kernel/json-text.ts';
import type { LookupKey } from '../../kernel/lookup.ts';
import { channelNameProblem } from '../../model/channel/channel.ts';
import { limits } from '../../model/realm/realm.ts';

/** A channel as a sender names it, before anything is looked up (wire facts 3.2). */
export type ChannelRecipient =
  | { readonly kind: 'channel'; readonly name: string }
  | { readonly kind: 'channel'; readonly id: number };

/** People as a sender names them. */
export type DirectRecipient =
  | { readonly kind: 'direct'; readonly ids: readonly number[] }
  | { readonly kind: 'direct'; readonly emails: readonly string[] };

export type Recipient = ChannelRecipient | DirectRecipient;

/** What `JSON.parse` makes of the text, or the text itself where it is not JSON. */
function decoded(to: string): unknown {
  if (!isWithin(to, usualBounds)) throw badRequest("'to' has too many entries or is nested too deeply.");
  try {
    return JSON.parse(to);
  } catch {
    return to;
  }
}

/** Whether all numbers in a text are whole. JavaScript takes `7.0` for an integer, the wire does not. */
const hasWholeNumbers = (to: string): boolean => /^[\s\d[\],-]*$/.test(to);

const isId = (value: unknown): value is number => Number.isSafeInteger(value);

const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();

/**
 * The channel that `to` names: text that is not JSON or a JSON string is its name, an integer its id, a list of
 * exactly one is that one. Anything else is `BAD_REQUEST`.
 */
export function channelRecipient(to: string): ChannelRecipient {
  let value = decoded(to);
  if (Array.isArray(value)) {
    if (value.length !== 1) throw badRequest('A channel message goes to exactly one channel.');
    value = value[0];
  }
  if (isText(value)) return { kind: 'channel', name: value.trim() };
  if (isId(value) && hasWholeNumbers(to)) return { kind: 'channel', id: value };
  throw badRequest("'to' must be the name or the ID of a channel.");
}

/** Most people in one conversation, its sender included: all of them are written in the transaction that begins it. */
export const MAX_PEOPLE = 80;

/**
 * The people that `to` names: a list of ids or a list of addresses; text is addresses separated by commas. A bare
 * integer, a mixed list and an empty one are `BAD_REQUEST`. Blanks and repetitions are dropped.
 */
export function directRecipient(to: string): DirectRecipient {
  const value = decoded(to);
  const list: unknown = typeof value === 'string' ? value.split(',') : value;
  if (!Array.isArray(list)) throw badRequest("'to' must be a list of user IDs or of email addresses.");
  if (list.every(isText)) {
    const emails = [...new Set(list.map((email) => email.trim()))].filter(Boolean);
    checkCount(emails.length);
    return { kind: 'direct', emails };
  }
  if (list.every(isId) && hasWholeNumbers(to)) {
    const ids = [...new Set(list)];
    checkCount(ids.length);
    return { kind: 'direct', ids };
  }
  throw badRequest("'to' must hold only user IDs or only email addresses.");
}

function checkCount(count: number): void {
  if (count === 0) throw badRequest('A direct message needs recipients.');
  checkSize(count);
}

/** Decides that a conversation may have so many people. */
export function checkSize(people: number): void {
  if (people > MAX_PEOPLE) throw badRequest(`A direct conversation has at most ${MAX_PEOPLE} people.`);
}

/** What must be looked up to find the recipient. A name that nothing can have is not looked up. */
export function recipientLookupKeys(recipient: Recipient): LookupKey[] {
  if ('name' in recipient) {
    return channelNameProblem(recipient.name) === undefined
      ? [{ kind: 'channelName', name: recipient.name }]
      : [];
  }
  if ('emails' in recipient) {
    return recipient.emails
      .filter(isAddress)
      .map((email): LookupKey<'account'> => ({ kind: 'account', email }));
  }
  return [];
}

/** Whether text can be the address of an account: longer text would not even fit into a key. */
const isAddress = (email: string): boolean =>
  email.length <= limits.email && unprintableAt(email) === undefined;
