import { badRequest } from '../../kernel/errors.ts';
import type { Change } from '../../log/commit.ts';
import { eventFor, type MessageSlot } from '../../log/slot.ts';
import { audienceOf, messageKey, unmoved } from '../../model/message/message.ts';
import {
  allSubmessages,
  laterSubmessages,
  submessageAttribute,
  submessageObject,
} from '../../model/message/object.ts';
import { checkWidgetData } from './widget-data.ts';

/** Most submessages after the send, and their size together: each one writes the item of the message again. */
const MAX_SUBMESSAGES = 500;
const MAX_BYTES = 50_000;

/** Largest submessage, bytes. */
const MAX_CONTENT_BYTES = 2_000;

/** Size of a submessage in the item without its content. */
const OVERHEAD_BYTES = 50;

const sizeOf = (content: string): number => Buffer.byteLength(content) + OVERHEAD_BYTES;

/**
 * Checks a submessage (companion facts 4.8). The first one of a message must be from its sender.
 *
 * @throws `BAD_REQUEST` if it is not, if the content is no JSON, too long or no data of the widget, or if the message has
 *   no room for it
 */
export function checkSubmessage(userId: number, message: MessageSlot, content: string): void {
  if (Buffer.byteLength(content) > MAX_CONTENT_BYTES) {
    throw badRequest(`'content' has at most ${MAX_CONTENT_BYTES} bytes.`);
  }
  const data = parsed(content);
  const isSender = message.senderId === userId;
  const [first] = allSubmessages(message);
  if (first === undefined && !isSender) {
    throw badRequest('Only the sender of a message can add its first submessage.');
  }
  checkWidgetData(first, data, isSender);
  const later = laterSubmessages(message);
  const bytes = later.reduce((sum, each) => sum + sizeOf(each.content), sizeOf(content));
  if (later.length >= MAX_SUBMESSAGES || bytes > MAX_BYTES) {
    throw badRequest('This message has too many submessages.');
  }
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    throw badRequest("'content' must be JSON.");
  }
}

/** Adds a submessage with the log number `id`. Fails if the message was deleted or moved, or has no more room. */
export function doAddSubmessage(
  realm: string,
  senderId: number,
  message: MessageSlot,
  content: string,
  id: number,
): Change<Record<never, never>> {
  const size = sizeOf(content);
  const { id: submessage_id, ...fields } = submessageObject(message.id, { id, senderId, content });
  return {
    writes: [
      {
        update: messageKey(realm, message.id),
        change: {
          set: { [submessageAttribute(id)]: { senderId, content } },
          add: { submessageCount: 1, submessageBytes: size },
        },
        when: {
          ...unmoved(message),
          below: { submessageCount: MAX_SUBMESSAGES, submessageBytes: MAX_BYTES - size + 1 },
        },
        // A move with a lower number must not follow: the event would go to the wrong channel.
        lastWriterWins: true,
      },
    ],
    entries: [eventFor(audienceOf(message), { type: 'submessage', submessage_id, ...fields })],
    result: {},
  };
}
