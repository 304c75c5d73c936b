import { sqsQueues } from '../../shared/adapters/queues.ts';
import { wakeOutbox } from '../../shared/domain/outbox/outbox.ts';
import {
  loadSubscriptions,
  numbersOfSubscriptions,
  parseNewChannel,
  subscribePeople,
  subscriptionLookupKeys,
} from '../../shared/domain/subscribe/subscribe.ts';
import { createChannel } from '../../shared/endpoints/subscriptions.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  createChannel,
  {
    parse: parseNewChannel,
    keys: subscriptionLookupKeys,
    load: ({ input, outside, resolved, userId }) => loadSubscriptions(outside, resolved, userId, input),
    reserve: numbersOfSubscriptions,
    run: async ({ input, caller, outside, realm, commit, clients }, snapshot) => {
      const { job } = await subscribePeople(outside, caller, commit, input, snapshot);
      if (job) await wakeOutbox(outside, clients.queues, { realm, kind: 'subscribed', job });
      const [created] = input.progress.created.values();
      return { id: created?.channel.channelId as number };
    },
  },
  { queues: sqsQueues },
);
