import { createHash } from 'node:crypto';
import { badRequest } from '../../kernel/errors.ts';
import type { Change } from '../../log/commit.ts';
import type { Message } from '../../log/message.ts';
import type { EventEntry, MessageEntry } from '../../log/slot.ts';
import type { Rendered } from '../../markdown/render.ts';
import { mentionsIn } from '../../model/message/message.ts';
import type { Visibility } from '../../model/message/user-topic.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';

/** What the sender's request says of a message, whatever its kind. */
export interface Draft {
  readonly senderId: number;
  readonly client: string;
  readonly content: string;
  readonly readBySender: boolean;
  /** By this a retry is recognized; without it every send is a new message. */
  readonly token?: SendToken;
  /** Milliseconds. */
  readonly now: number;
}

/** A message that was decided on: where it goes, and what comes with it. */
export interface Delivery {
  /** The place, as it is stored with the message. */
  readonly place: Pick<Message, 'channelId' | 'topic' | 'people' | 'conversation'>;
  /** Identifies the place on the wire; absent for a conversation that this message begins: then it is its own id. */
  readonly recipientId?: number;
  readonly rendered: Rendered;
  /** Events that are told just before the message. */
  readonly before: readonly EventEntry[];
  /** What keeps the place right when the message arrives there. */
  readonly writesFor: (messageId: number) => readonly Write[];
  /** The policy that the topic gets for the sender because of this message. */
  readonly policy?: Visibility;
}

/** The reply to a send (specification 4.1). */
export interface SendReply {
  readonly id: number;
  readonly automatic_new_visibility_policy?: number;
}

/** The reply for this message; the policy is told only where it was changed. */
export const sendReply = (id: number, policy: Visibility | undefined): SendReply => ({
  id,
  ...(policy !== undefined && { automatic_new_visibility_policy: policy }),
});

/**
 * Stores a message, once for all its readers, with what comes with it: the writes that keep its place right, the
 * events that are told before it, and the memory of the send. `numbers` are one for each event and one more, which
 * becomes the id.
 */
export function doSend(
  realm: string,
  draft: Draft,
  delivery: Delivery,
  numbers: readonly number[],
): Change<SendReply> {
  const { senderId, token, now } = draft;
  const { place, rendered, before, policy } = delivery;
  const id = numbers[before.length] as number;
  const mentions = mentionsIn(rendered, place.channelId !== undefined);
  const message: MessageEntry['message'] = {
    ...place,
    senderId,
    timestamp: Math.floor(now / 1000),
    client: draft.client,
    recipientId: delivery.recipientId ?? id,
    content: draft.content,
    rendered: rendered.html,
    isMe: rendered.isMe,
    readBySender: draft.readBySender,
    ...(mentions && { mentions }),
    ...(token && { echo: token.echo }),
  };
  return {
    writes: [
      ...delivery.writesFor(id),
      ...(token ? [sentWrite(realm, senderId, token, id, policy, now)] : []),
    ],
    entries: [...before, { kind: 'message', message }],
    result: sendReply(id, policy),
  };
}

/** A send that was done, remembered under its sender, so that a retry gets the same answer (DESIGN 5). */
export interface Sent {
  readonly messageId: number;
  /** What was sent; a retry must be of the same. */
  readonly fingerprint: string;
  readonly policy?: Visibility;
  /** Seconds since 1970. */
  readonly expires: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    sent: Sent;
  }
}

/** How long a send is remembered at least, seconds. DynamoDB deletes some time after. */
const REMEMBERED = 48 * 3600;

/** The client's own name of a message: the queue it listens to, and its id there. */
export interface Echo {
  readonly queueId: string;
  readonly localId: string;
}

/** By what a retry is recognized: the name of the message, and the digest of what was sent under it. */
export interface SendToken {
  readonly echo: Echo;
  readonly fingerprint: string;
  /** Seconds for which it is recognized, where retries may come later than those of clients. */
  readonly remembered?: number;
}

export const digest = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/** Where the send of this name is remembered. */
export const sentKey = (realm: string, userId: number, { queueId, localId }: Echo): Key<'sent'> =>
  key('sent', { realm, userId, token: digest([queueId, localId]) });

/** The earlier send of this name, if there was one; a different message under that name is refused. */
export function accessSent(sent: Sent | undefined, token: SendToken | undefined): Sent | undefined {
  if (sent !== undefined && sent.fingerprint !== token?.fingerprint) {
    throw badRequest("This 'local_id' was used for another message of the same queue.");
  }
  return sent;
}

/** Remembers a send. Two at once with one name: the condition lets one of them in. */
export function sentWrite(
  realm: string,
  userId: number,
  { echo, fingerprint, remembered = REMEMBERED }: SendToken,
  messageId: number,
  policy: Visibility | undefined,
  now: number,
): Write {
  const expires = Math.floor(now / 1000) + remembered;
  const sent: Sent = { messageId, fingerprint, ...(policy !== undefined && { policy }), expires };
  return { put: sentKey(realm, userId, echo), item: { ...sent }, when: { absent: true } };
}

/** The token of what the service itself says once: under the name of its job, and which of its parts it is. */
export function jobToken(job: string, part: string, remembered: number): SendToken {
  const localId = `${job}/${part}`;
  return { echo: { queueId: 'outbox', localId }, fingerprint: localId, remembered };
}
