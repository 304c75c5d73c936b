import { FirstMessages } from '../../shared/domain/reader/first-messages.ts';
import { listSubscriptions } from '../../shared/endpoints/subscriptions.ts';
import {
  byName,
  loadCurrent,
  loadSomeChannels,
  loadSubscriberIds,
  subscriptionObject,
} from '../../shared/model/subscription/object.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listSubscriptions, {
  load: async ({ outside, realm, userId, input }) => {
    const { table } = outside;
    const subscriptions = await loadCurrent(table, realm, userId);
    const ids = subscriptions.map(({ channelId }) => channelId);
    const [channels, subscribers] = await Promise.all([
      loadSomeChannels(table, realm, ids),
      // Subscribers can see each other.
      input.include_subscribers
        ? Promise.all(ids.map((channelId) => loadSubscriberIds(table, realm, channelId)))
        : undefined,
    ]);
    return {
      channels,
      subscriptions: new Map(subscriptions.map((each) => [each.channelId, each])),
      subscribers: subscribers && new Map(ids.map((channelId, i) => [channelId, subscribers[i] ?? []])),
    };
  },
  run: async ({ outside, realm }, { channels, subscriptions, subscribers }) => ({
    subscriptions: await new FirstMessages(outside, realm).completeAll(
      byName(channels).flatMap((counted) => {
        const { channelId, isArchived } = counted.channel;
        const subscription = subscriptions.get(channelId);
        if (isArchived || subscription === undefined) return [];
        return [
          {
            ...subscriptionObject(counted, subscription, outside.now()),
            ...(subscribers && { subscribers: subscribers.get(channelId) ?? [] }),
          },
        ];
      }),
    ),
  }),
});
