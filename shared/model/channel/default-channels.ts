import type { EventEntry } from '../../log/slot.ts';

/** Tells the channels to which newcomers are subscribed, as they are when it is told. Guests are not told. */
export const defaultChannelsEvent: EventEntry = {
  kind: 'event',
  hearers: { everyone: 'members' },
  payload: { type: 'default_streams' },
  fill: 'defaultChannels',
};
