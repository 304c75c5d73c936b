import { badRequest } from '../../kernel/errors.ts';
import { digestOf } from '../../kernel/text.ts';
import type { Change } from '../../log/commit.ts';
import type { Message } from '../../log/message.ts';
import type { EventEntry, MessageEntry } from '../../log/slot.ts';
import type { Rendered } from '../../markdown/render.ts';
import { mentionsIn } from '../../model/message/message.ts';
import type { Visibility } from '../../model/message/user-topic.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import type { StoredFile } from '../files/file.ts';

/** What the sender decides about a channel or direct message. */
export interface Draft {
  readonly senderId: number;
  readonly client: string;
  readonly content: string;
  readonly readBySender: boolean;
  /** Identifies a retry; without it every send is a new message. */
  readonly token?: SendToken;
  /** Milliseconds. */
  readonly now: number;
}

/** Where an accepted message goes, and the changes that come with it. */
export interface Delivery {
  /** The conversation, as stored with the message. */
  readonly place: Pick<Message, 'channelId' | 'topic' | 'people' | 'conversation'>;
  /** Identifies the conversation on the wire. Absent for its first message, whose id it becomes. */
  readonly recipientId?: number;
  readonly rendered: Rendered;
  /** Events just before the message. */
  readonly before: readonly EventEntry[];
  /** The writes that add the message to the conversation, and let it hold its files. */
  readonly writesFor: (messageId: number) => readonly Write[];
  /** The sender's new policy for the topic. */
  readonly policy?: Visibility;
  /** The uploaded files that the message holds, if any. */
  readonly files?: readonly StoredFile[];
}

/** The reply to a send (specification 4.1). */
export interface SendReply {
  readonly id: number;
  readonly automatic_new_visibility_policy?: number;
}

/** The reply, with the policy if it changed. */
export const sendReply = (id: number, policy: Visibility | undefined): SendReply => ({
  id,
  ...(policy !== undefined && { automatic_new_visibility_policy: policy }),
});

/**
 * Stores a message once for all its readers, with its delivery's writes and events, and a record for retries. `numbers`
 * has one for each event, and one more, which becomes the message id.
 */
export function doSend(
  realm: string,
  draft: Draft,
  delivery: Delivery,
  numbers: readonly number[],
): Change<SendReply> {
  const { senderId, token, now } = draft;
  const { place, rendered, before, policy, files = [] } = delivery;
  const id = numbers[before.length] as number;
  const mentions = mentionsIn(rendered, place.channelId !== undefined);
  const widget = widgetIn(draft.content);
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
    ...(files.length > 0 && { files: files.map(({ pathId }) => pathId) }),
    ...(widget !== undefined && { widget }),
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

/** A completed send, stored under its sender, so that a retry gets the same reply (DESIGN 5). */
export interface Sent {
  readonly messageId: number;
  /** Digest of the message; a retry must have the same. */
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

/** How long a send is kept at least. DynamoDB deletes it some time later. */
const SENT_TTL_SECONDS = 48 * 3600;

/** A client's own identifier of a message: its event queue, and a local id. */
export interface Echo {
  readonly queueId: string;
  readonly localId: string;
}

/** Identifies a retry: the client's identifier, and a digest of the message. */
export interface SendToken {
  readonly echo: Echo;
  readonly fingerprint: string;
  /** Seconds for which it is kept, if retries may come later than those of clients. */
  readonly remembered?: number;
}

export const digest = (parts: readonly unknown[]): string => digestOf(JSON.stringify(parts));

/** The key of a completed send. */
export const sentKey = (realm: string, userId: number, { queueId, localId }: Echo): Key<'sent'> =>
  key('sent', { realm, userId, token: digest([queueId, localId]) });

/** The earlier send with this token, if there was one. Refuses a different message with the same identifier. */
export function accessSent(sent: Sent | undefined, token: SendToken | undefined): Sent | undefined {
  if (sent !== undefined && sent.fingerprint !== token?.fingerprint) {
    throw badRequest("This 'local_id' was used for another message of the same queue.");
  }
  return sent;
}

/** Records a send. Of two concurrent ones with the same identifier, only one succeeds. */
export function sentWrite(
  realm: string,
  userId: number,
  { echo, fingerprint, remembered = SENT_TTL_SECONDS }: SendToken,
  messageId: number,
  policy: Visibility | undefined,
  now: number,
): Write {
  const expires = Math.floor(now / 1000) + remembered;
  const sent: Sent = { messageId, fingerprint, ...(policy !== undefined && { policy }), expires };
  return { put: sentKey(realm, userId, echo), item: { ...sent }, when: { absent: true } };
}

/** The token of a notice that a job sends once. */
export function jobToken(job: string, part: string, remembered: number): SendToken {
  const localId = `${job}/${part}`;
  return { echo: { queueId: 'outbox', localId }, fingerprint: localId, remembered };
}

/** A larger widget would leave no room in the item of its message; such a message stays plain text. */
const MAX_WIDGET_BYTES = 24_000;

/**
 * The first submessage (JSON text) of a message that begins with `/poll` or `/todo`. The rest of its first line is the
 * question or the title, and each further line an option or a task. Undefined for any other message.
 */
export function widgetIn(content: string): string | undefined {
  const [, command, text = ''] = /^\/(poll|todo)(?!\S)(.*)$/s.exec(content) ?? [];
  if (command === undefined) return undefined;
  const [first = '', ...others] = text.split(/\r\n|\r|\n/);
  const heading = first.trim();
  const entries = others.map(withoutListMark).filter((line) => line !== '');
  const data =
    command === 'poll'
      ? { question: heading, options: entries }
      : { task_list_title: heading, tasks: entries.map(taskIn) };
  const widget = JSON.stringify({ widget_type: command, extra_data: data });
  return Buffer.byteLength(widget) > MAX_WIDGET_BYTES ? undefined : widget;
}

const withoutListMark = (line: string): string => line.trim().replace(/^[-*]\s*/, '');

/** A task and its description, separated by the first colon. */
function taskIn(line: string): { task: string; desc: string } {
  const [task = '', ...rest] = line.split(':');
  return { task: task.trim(), desc: rest.join(':').trim() };
}
