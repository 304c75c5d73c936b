import type { EventEntry, Payload } from '../../log/slot.ts';
import type { Table } from '../../table/table.ts';
import { loadChannels, loadSubscriberIds } from '../subscription/subscription-object.ts';

/**
 * The payload of an event with the ids that are read when it is told. They may be newer than the event; what changed
 * them since is told after it, and telling it twice changes nothing. Undefined where there is nothing to tell. One
 * round trip, if it has such ids at all.
 */
export async function filledPayload(
  table: Table,
  realm: string,
  { payload, fill, hearers }: EventEntry,
): Promise<Payload | undefined> {
  switch (fill) {
    case undefined:
      return payload;
    case 'subscribers': {
      const ids = 'channel' in hearers ? await loadSubscriberIds(table, realm, hearers.channel) : [];
      return ids.length === 0 ? undefined : { ...payload, user_ids: ids };
    }
    case 'defaultChannels': {
      const channels = await loadChannels(table, realm);
      return { ...payload, default_streams: channels.filter(isDefault).map(idOf) };
    }
  }
}

type Listed = Awaited<ReturnType<typeof loadChannels>>[number];
const isDefault = ({ channel }: Listed): boolean => channel.isDefault && !channel.isArchived;
const idOf = ({ channel }: Listed): number => channel.channelId;
