import { sqsQueues } from '../../shared/adapters/queues.ts';
import { wakeOutbox } from '../../shared/domain/outbox/outbox.ts';
import { parseSubscriptionChanges } from '../../shared/domain/subscribe/change.ts';
import { pairLookupKeys } from '../../shared/domain/subscribe/snapshot.ts';
import {
  loadSubscriptions,
  namesByUser,
  numbersOfSubscriptions,
  subscribePeople,
  subscriptionLookupKeys,
} from '../../shared/domain/subscribe/subscribe.ts';
import {
  checkUnsubscribe,
  loadRemovals,
  numbersOfRemovals,
  unsubscribePeople,
} from '../../shared/domain/subscribe/unsubscribe.ts';
import { changeSubscriptions } from '../../shared/endpoints/subscriptions.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  changeSubscriptions,
  {
    parse: parseSubscriptionChanges,
    keys: ({ add, remove }) => [...subscriptionLookupKeys(add), ...pairLookupKeys(remove)],
    load: async ({ input: { add, remove }, outside, resolved, userId }) => {
      const [toAdd, toRemove] = await Promise.all([
        loadSubscriptions(outside, resolved, userId, add),
        loadRemovals(outside, resolved, userId, remove),
      ]);
      return { toAdd, toRemove };
    },
    reserve: ({ add, remove }) => [...numbersOfSubscriptions(add), ...numbersOfRemovals(remove)],
    run: async ({ input: { add, remove }, caller, outside, realm, commit, clients }, { toAdd, toRemove }) => {
      // An error undoes both, so everything is checked before the first change.
      checkUnsubscribe(caller, remove, toRemove, outside.now());
      const added = await subscribePeople(outside, caller, commit, add, toAdd);
      const { job } = added;
      const removed = await unsubscribePeople(outside, caller, commit, remove, toRemove);
      if (job) await wakeOutbox(outside, clients.queues, { realm, kind: 'subscribed', job });
      return {
        subscribed: namesByUser(added.subscribed),
        already_subscribed: namesByUser(added.already),
        removed: [...removed.removed],
        not_removed: [...removed.notRemoved],
      };
    },
  },
  { queues: sqsQueues },
);
