import type { Payload } from '../../log/slot.ts';
import { hasMetadataAccess } from '../../model/channel/access.ts';
import { mutedTopics, visibility } from '../../model/message/user-topic.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { Table } from '../../table/table.ts';
import type { EventQueue } from './queue.ts';

/**
 * The `muted_topics` event, which older clients get for each change of a policy: the whole list, as it is now (companion facts
 * 3.7). Topics of channels that the user can no longer see are left out. Two round trips.
 */
export async function mutedTopicsPayload(
  table: Table,
  { standing, realmId: realm }: Pick<Caller, 'standing' | 'realmId'>,
  { capabilities }: Pick<EventQueue, 'capabilities'>,
): Promise<Payload> {
  const { userId } = standing;
  const policies = await table.all('userTopic', { realm, userId });
  const muted = policies.filter(({ policy }) => policy === visibility.muted);
  const named = [...new Set(muted.map(({ channelId }) => channelId))].map(
    async (channelId): Promise<[number, string][]> => {
      const [channel, subscription] = await Promise.all([
        table.get('channel', { realm, channelId }),
        table.get('subscription', { realm, userId, channelId }),
      ]);
      const isShown =
        channel !== undefined &&
        (!channel.isArchived || capabilities.includes('archived_channels')) &&
        hasMetadataAccess(standing, { channel, subscription });
      return isShown ? [[channelId, channel.name]] : [];
    },
  );
  const names = new Map((await Promise.all(named)).flat());
  return {
    type: 'muted_topics',
    muted_topics: mutedTopics(muted, names, capabilities.includes('empty_topic_name')),
  };
}
