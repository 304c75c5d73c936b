import type { Audience, EventEntry } from '../../log/slot.ts';
import type { Channel, ChannelCount } from './channel.ts';
import { channelObject } from './object.ts';

/**
 * The `stream/create` event: a channel exists for these people from now on (wire facts 4.6). Clients that keep lists of
 * subscribers get the list and its length as they are when the event is told, so the `peer_add` events after it count
 * nobody twice, and nobody is missing whom a registration read before this event.
 *
 * @param count what clients without such lists are told. Nobody whom a later `peer_add` adds may be in it.
 */
export const creationEvent = (
  hearers: Audience,
  channel: Channel,
  count: ChannelCount | undefined,
): EventEntry => ({
  kind: 'event',
  hearers,
  payload: { type: 'stream', op: 'create', streams: [channelObject(channel, count)] },
  fill: 'company',
  access: true,
});
