import type { Change } from '../../log/commit.ts';
import type { Message } from '../../log/message.ts';
import type { EventEntry, MessageEntry } from '../../log/slot.ts';
import type { Rendered } from '../../markdown/render.ts';
import { mentionsIn } from '../../model/message/mentions.ts';
import type { Visibility } from '../../model/message/visibility.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { Write } from '../../table/write.ts';
import type { AskedMessage } from './asked-message.ts';
import { rememberSent, type SendToken } from './sent.ts';

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
  { content, readBySender, token }: AskedMessage,
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
      ...(token ? [rememberSent(realm, senderId, token, id, policy, now)] : []),
    ],
    entries: [...before, { kind: 'message', message }],
    result: sendReply(id, policy),
  };
}
