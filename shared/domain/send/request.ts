import { badRequest } from '../../kernel/errors.ts';
import type { LookupKey } from '../../kernel/lookup.ts';
import { isWithin, unprintableAt, usualBounds } from '../../kernel/text.ts';
import { extractReferences, type References } from '../../markdown/references.ts';
import { channelNameProblem } from '../../model/channel/channel.ts';
import { checkTopic, normalizedContent } from '../../model/message/message.ts';
import { limits } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import { linkedTokens } from '../files/link.ts';
import { referenceLookupKeys } from '../mention/references.ts';
import { type Draft, digest, type SendToken } from './send.ts';

/** The channel in a request, before it is looked up (wire facts 3.2). */
export type ChannelRecipient =
  | { readonly kind: 'channel'; readonly name: string }
  | { readonly kind: 'channel'; readonly id: number };

/** The people in a request, before they are looked up. */
export type DirectRecipient =
  | { readonly kind: 'direct'; readonly ids: readonly number[] }
  | { readonly kind: 'direct'; readonly emails: readonly string[] };

/** The parsed JSON, or the text itself if it is not JSON. */
function decoded(to: string): unknown {
  if (!isWithin(to, usualBounds)) throw badRequest("'to' has too many entries or is nested too deeply.");
  try {
    return JSON.parse(to);
  } catch {
    return to;
  }
}

/** Whether all numbers in a text are integers. `7.0` is not one on the wire, unlike in JavaScript. */
const hasWholeNumbers = (to: string): boolean => /^[\s\d[\],-]*$/.test(to);

const isId = (value: unknown): value is number => Number.isSafeInteger(value);

const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();

/**
 * Parses the channel in `to`: an integer is its id, a JSON string or other text its name; a list must have exactly one
 * of them. Anything else is `BAD_REQUEST`.
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

/** Most people in one conversation, its sender included: the transaction of its first message writes all of them. */
export const MAX_PEOPLE = 80;

/**
 * Parses the people in `to`: a list of ids, a list of addresses, or text with addresses separated by commas. A single
 * integer, a mixed list and an empty one are `BAD_REQUEST`. Drops blanks and duplicates.
 */
export function parseDirectRecipient(to: string): DirectRecipient {
  const value = decoded(to);
  const list: unknown = typeof value === 'string' ? value.split(',') : value;
  if (!Array.isArray(list)) throw badRequest("'to' must be a list of user IDs or of email addresses.");
  if (list.every(isText)) {
    const emails = [...new Set(list.map((email) => email.trim()))].filter(Boolean);
    if (emails.length === 0) throw badRequest('A direct message needs recipients.');
    checkSize(emails.length);
    return { kind: 'direct', emails };
  }
  if (list.every(isId) && hasWholeNumbers(to)) {
    const ids = [...new Set(list)];
    checkSize(ids.length);
    return { kind: 'direct', ids };
  }
  throw badRequest("'to' must hold only user IDs or only email addresses.");
}

/** Refuses a conversation of too many people. */
export function checkSize(people: number): void {
  if (people > MAX_PEOPLE) throw badRequest(`A direct conversation has at most ${MAX_PEOPLE} people.`);
}

/** Whether text can be the address of an account. Longer text does not fit into a key. */
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

/** A parsed request to send a message, before anything is looked up. */
export interface SendRequest {
  readonly to: DirectRecipient | (ChannelRecipient & { readonly topic: string });
  /** Normalized, perhaps empty. */
  readonly content: string;
  /** The names in the content. */
  readonly names: References;
  /** The tokens of the files that the content may link to. */
  readonly files: readonly string[];
  /** Identifies a retry. */
  readonly token: SendToken | undefined;
  /** Whether the message starts as read by its sender, if the request says so. */
  readonly readBySender: boolean | undefined;
}

/** Parses the parameters of a send. Throws `BAD_REQUEST` in the order of wire facts 3.3. */
export function parseSend(input: SendParameters): SendRequest {
  const { type, to, topic, queue_id: queueId, local_id: localId, sender, forged } = input;
  if ((queueId === undefined) !== (localId === undefined)) {
    throw badRequest("'queue_id' and 'local_id' go together: send both or neither.");
  }
  const recipient =
    type === 'direct' || type === 'private' ? parseDirectRecipient(to) : parseChannelRecipient(to);
  // Ignoring `sender` would send as the caller instead (wire facts 3.1).
  if (sender !== undefined || forged === 'yes' || forged === 'true') {
    throw badRequest('You may not send messages as another user.');
  }
  const content = normalizedContent(input.content);
  // The topic of a direct message is ignored.
  const about = recipient.kind === 'channel' ? [recipient, topic ?? null] : [recipient];
  return {
    to: recipient.kind === 'direct' ? recipient : { ...recipient, topic: checkTopicParameter(topic) },
    content,
    names: extractReferences(content),
    files: linkedTokens(content),
    token:
      queueId === undefined || localId === undefined
        ? undefined
        : { echo: { queueId, localId }, fingerprint: digest([...about, input.content]) },
    readBySender: input.read_by_sender,
  };
}

/** Only channel messages need a topic, so the declaration cannot require it (wire facts 3.4). */
function checkTopicParameter(topic: string | undefined): string {
  if (topic === undefined) throw badRequest('A channel message needs a topic.');
  return checkTopic(topic);
}

/** The lookup keys of the recipient and the content. Invalid names and addresses are not looked up. */
export function sendLookupKeys({ to, names }: SendRequest): LookupKey[] {
  const keys = referenceLookupKeys(names);
  if ('name' in to && channelNameProblem(to.name) === undefined)
    keys.push({ kind: 'channelName', name: to.name });
  if ('emails' in to) {
    for (const email of to.emails.filter(isAddress)) keys.push({ kind: 'account', email });
  }
  return keys;
}

/**
 * The log numbers to reserve: for the message, each file, the sender's policy, and each user who may start to follow the
 * topic.
 */
export const maxNumbers = ({ to, names, files }: SendRequest): number =>
  files.length + (to.kind === 'direct' ? 1 : 2 + names.users.length);

/** Clients whose own messages start as read (wire facts 3.9), in lower case. */
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

/** The draft of a message. Unless the request says so, it starts as read if the client is one for reading. */
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
