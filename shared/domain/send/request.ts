import { badRequest } from '../../kernel/errors.ts';
import { unprintableAt } from '../../kernel/folding.ts';
import { isWithin, usualBounds } from '../../kernel/json-text.ts';
import type { LookupKey } from '../../kernel/lookup.ts';
import { extractReferences, type References } from '../../markdown/references.ts';
import { channelNameProblem } from '../../model/channel/channel.ts';
import { checkTopic, normalizedContent } from '../../model/message/message.ts';
import { limits } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import { referenceLookupKeys } from '../mention/references.ts';
import { type Draft, digest, type Echo, type SendToken } from './send.ts';

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
export function parseChannelRecipient(to: string): ChannelRecipient {
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
export function parseDirectRecipient(to: string): DirectRecipient {
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

/** The parameters of a send (specification 4.1). */
interface SendParameters {
  readonly type: 'direct' | 'private' | 'channel' | 'stream';
  readonly to: string;
  readonly content: string;
  readonly topic?: string | undefined;
  readonly queue_id?: string | undefined;
  readonly local_id?: string | undefined;
  readonly read_by_sender?: boolean | undefined;
  readonly sender?: string | undefined;
  readonly forged?: string | undefined;
}

/** A message that somebody asks to send, before anything is looked up. */
export interface SendRequest {
  readonly to: DirectRecipient | (ChannelRecipient & { readonly topic: string });
  /** Normalized; it may be empty. */
  readonly content: string;
  /** The names in the content. */
  readonly names: References;
  /** By this a retry is recognized. */
  readonly token: SendToken | undefined;
  /** Whether it starts as read by its sender, if they said so. */
  readonly readBySender: boolean | undefined;
}

/** Interprets the parameters of a send. Throws `BAD_REQUEST` in the order of wire facts 3.3. */
export function parseSend(given: SendParameters): SendRequest {
  const { type, to, topic } = given;
  const echo = checkEcho(given.queue_id, given.local_id);
  const recipient =
    type === 'direct' || type === 'private' ? parseDirectRecipient(to) : parseChannelRecipient(to);
  checkOwnName(given);
  const content = normalizedContent(given.content);
  return {
    to: recipient.kind === 'direct' ? recipient : { ...recipient, topic: checkGivenTopic(topic) },
    content,
    names: extractReferences(content),
    token: echo && { echo, fingerprint: fingerprintOf(recipient, topic, given.content) },
    readBySender: given.read_by_sender,
  };
}

/** That a message has a topic is a rule of channel messages, not of the parameter (wire facts 3.4). */
function checkGivenTopic(topic: string | undefined): string {
  if (topic === undefined) throw badRequest('A channel message needs a topic.');
  return checkTopic(topic);
}

/** Refuses to send in somebody else's name: ignoring the wish would put words into the caller's mouth (wire facts 3.1). */
function checkOwnName({ sender, forged }: SendParameters): void {
  if (sender !== undefined || forged === 'yes' || forged === 'true') {
    throw badRequest('You may not send messages in the name of somebody else.');
  }
}

/** The names of the recipient and those in the content. */
export const sendLookupKeys = ({ to, names }: SendRequest): LookupKey[] => [
  ...recipientLookupKeys(to),
  ...referenceLookupKeys(names),
];

/** Most numbers that it takes: one for the message, its sender's own policy, and everybody who may begin to follow. */
export const maxNumbers = ({ to, names }: SendRequest): number =>
  to.kind === 'direct' ? 1 : 2 + names.users.length;

/** The queue and the local id, which go together (specification 4.1). */
export function checkEcho(queueId: string | undefined, localId: string | undefined): Echo | undefined {
  if ((queueId === undefined) !== (localId === undefined)) {
    throw badRequest("'queue_id' and 'local_id' go together: send both or neither.");
  }
  return queueId === undefined || localId === undefined ? undefined : { queueId, localId };
}

/** What tells one message from another under the same name. The topic of a direct message means nothing. */
export function fingerprintOf(recipient: Recipient, topic: string | undefined, content: string): string {
  const about = recipient.kind === 'channel' ? [recipient, topic ?? null] : [recipient];
  return digest([...about, content]);
}

/** Clients whose own sends count as read (wire facts 3.9), in lower case. */
const READING_CLIENTS = new Set([
  'zulipandroid',
  'zulipios',
  'zulipdesktop',
  'zulipmobile',
  'zulipelectron',
  'zulipterminal',
  'snipe',
  'website',
  'ios',
  'android',
]);

/**
 * The sender's part of a message. It starts as read if they say so; if they say nothing, if their client is one for
 * reading.
 */
export const draftOf = (
  { user }: Caller,
  { content, readBySender, token }: SendRequest,
  client: string,
  now: number,
): Draft => ({
  senderId: user.userId,
  client,
  content,
  readBySender: readBySender ?? READING_CLIENTS.has(client.toLowerCase()),
  ...(token && { token }),
  now,
});
