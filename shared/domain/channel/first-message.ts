import type { EventEntry } from '../../log/slot.ts';

/**
 * Tells that another message is the oldest of a channel now, or that there is none (null). Clients find out by
 * themselves where the first message is sent.
 */
export const firstMessageEvent = (channelId: number, messageId: number | null): EventEntry => ({
  kind: 'event',
  hearers: { channel: channelId },
  payload: {
    type: 'stream',
    op: 'update',
    stream_id: channelId,
    property: 'first_message_id',
    value: messageId,
  },
  fill: 'name',
});
