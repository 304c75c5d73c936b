import { sqsQueues } from '../../shared/adapters/queues.ts';
import { wakeOutbox } from '../../shared/domain/outbox/outbox.ts';
import {
  loadSubscriptions,
  namesByUser,
  numbersOfSubscriptions,
  parseSubscriptions,
  subscribePeople,
  subscriptionLookupKeys,
} from '../../shared/domain/subscribe/subscribe.ts';
import { addSubscriptions } from '../../shared/endpoints/subscriptions.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  addSubscriptions,
  {
    parse: parseSubscriptions,
    keys: subscriptionLookupKeys,
    load: ({ input, outside, resolved, userId }) => loadSubscriptions(outside, resolved, userId, input),
    reserve: numbersOfSubscriptions,
    run: async ({ input, caller, outside, realm, commit, clients }, snapshot) => {
      const outcome = await subscribePeople(outside, caller, commit, input, snapshot);
      const { job } = outcome;
      if (job) await wakeOutbox(outside, clients.queues, { realm, kind: 'subscribed', job });
      return {
        subscribed: namesByUser(outcome.subscribed),
        already_subscribed: namesByUser(outcome.already),
        ...(!input.refuseUnauthorized && { unauthorized: [...outcome.unauthorized] }),
        ...(input.sendMessages && { new_subscription_messages_sent: outcome.sendsMessages }),
      };
    },
  },
  { queues: sqsQueues },
);
