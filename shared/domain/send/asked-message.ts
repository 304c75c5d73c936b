import { badRequest } from '../../kernel/errors.ts';
import type { LookupKey } from '../../kernel/lookup.ts';
import { extractReferences, type References } from '../../markdown/references.ts';
import { checkTopic, normalizedContent } from '../../model/message/text.ts';
import { nameLookupKeys } from '../mention/naming.ts';
import {
  type ChannelRecipient,
  channelRecipient,
  type DirectRecipient,
  directRecipient,
  recipientLookupKeys,
} from './recipient.ts';
import { checkEcho, fingerprintOf, type SendToken } from './sent.ts';

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
export interface AskedMessage {
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
export function parseSend(given: SendParameters): AskedMessage {
  const { type, to, topic } = given;
  const echo = checkEcho(given.queue_id, given.local_id);
  const recipient = type === 'direct' || type === 'private' ? directRecipient(to) : channelRecipient(to);
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
export const sendLookupKeys = ({ to, names }: AskedMessage): LookupKey[] => [
  ...recipientLookupKeys(to),
  ...nameLookupKeys(names),
];

/** Most numbers that it takes: one for the message, its sender's own policy, and everybody who may begin to follow. */
export const mostNumbers = ({ to, names }: AskedMessage): number =>
  to.kind === 'direct' ? 1 : 2 + names.users.length;
