import type { Change } from '../../log/commit.ts';
import { type EventEntry, eventFor, type MessageSlot } from '../../log/slot.ts';
import type { Caller } from '../../model/user/caller.ts';
import { settingsOf } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { checkMayRewrite } from '../edit/rewrite.ts';
import { isTurnedOff, MAX_SUBSCRIBERS } from './typing.ts';

/**
 * Loads the settings of the caller, and who may get the event: the people of a direct conversation with their settings,
 * or the subscribers of the channel. Of a large channel it reads one subscriber more than get the event. One round trip.
 */
export async function loadEditTyping(
  table: Table,
  realm: string,
  userId: number,
  { channelId, people = [] }: MessageSlot,
) {
  const receives = async (id: number) => {
    const [user, settings] = await Promise.all([
      table.get('user', { realm, userId: id }),
      table.get('settings', { realm, userId: id }),
    ]);
    return user?.isActive === true && settingsOf(settings).receives_typing_notifications === true ? [id] : [];
  };
  const [own, recipients, subscribers] = await Promise.all([
    table.get(key('settings', { realm, userId })),
    Promise.all(people.map(receives)),
    channelId === undefined
      ? []
      : table.all('subscriber', { realm, channelId }, { limit: MAX_SUBSCRIBERS + 1 }),
  ]);
  return {
    settings: settingsOf(own),
    recipients: recipients.flat(),
    subscribers: subscribers.map((subscriber) => subscriber.userId),
  };
}

type EditTypingSnapshot = Awaited<ReturnType<typeof loadEditTyping>>;

/**
 * Refuses a caller who may not edit the message, or who has turned these announcements off (companion facts 1.13). Unlike
 * the edit itself, it has no leeway after the time limit. `now` is in milliseconds.
 */
export function checkEditTyping(
  caller: Caller,
  message: MessageSlot,
  { settings }: EditTypingSnapshot,
  now: number,
): void {
  checkMayRewrite(caller, message, now, 0);
  const setting =
    message.channelId === undefined
      ? 'send_private_typing_notifications'
      : 'send_stream_typing_notifications';
  if (settings[setting] !== true) throw isTurnedOff();
}

/**
 * Announces that the sender of a message is typing an edit of it, or stopped. Undefined if nobody is notified: the
 * channel is too large, or no recipient wants these events.
 */
export function doEditTyping(
  { id, senderId, channelId, topic = '' }: MessageSlot,
  op: 'start' | 'stop',
  { recipients, subscribers }: EditTypingSnapshot,
): Change<void> | undefined {
  const event = { type: 'typing_edit_message', op, sender_id: senderId, message_id: id };
  const only = (entry: EventEntry): Change<void> => ({ writes: [], entries: [entry], result: undefined });
  if (channelId === undefined) {
    if (recipients.length === 0) return undefined;
    const recipient = { type: 'direct', user_ids: recipients };
    return only(eventFor({ users: recipients }, { ...event, recipient }, { momentary: true }));
  }
  if (subscribers.length > MAX_SUBSCRIBERS) return undefined;
  const recipient = { type: 'channel', channel_id: channelId, topic };
  return only(
    eventFor(
      { message: id, channel: channelId, subscribers },
      { ...event, recipient },
      { momentary: true, given: 'stream_typing_notifications' },
    ),
  );
}
