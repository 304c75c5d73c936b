import { sqsQueues } from '../../shared/adapters/queues.ts';
import { resolveReferences } from '../../shared/domain/mention/references.ts';
import { wakeOutbox } from '../../shared/domain/outbox/outbox.ts';
import {
  loadSubscriptions,
  namesByUser,
  numbersOfSubscriptions,
  parseSubscriptions,
  reloadSubscriptions,
  subscribePeople,
  subscriptionLookupKeys,
} from '../../shared/domain/subscribe/subscribe.ts';
import { addSubscriptions } from '../../shared/endpoints/subscriptions.ts';
import { renderDescription } from '../../shared/markdown/render.ts';
import { isWebPublicEnabled } from '../../shared/model/realm/realm.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  addSubscriptions,
  {
    parse: parseSubscriptions,
    keys: subscriptionLookupKeys,
    load: ({ input, outside, resolved, userId }) => loadSubscriptions(outside, resolved, userId, input),
    reserve: numbersOfSubscriptions,
    run: async (request, { snapshot, named }) => {
      const { input, caller, outside, realm, userId, resolved, commit, clients } = request;
      const reload = () => reloadSubscriptions(outside, resolved, userId, input);
      const found = resolveReferences(caller.standing, named);
      const job = outside.uuid();
      const parsed = {
        ...input,
        resolved,
        render: (description: string) => renderDescription(description, found),
        isWebPublicEnabled: isWebPublicEnabled(outside.environment),
        job,
        now: outside.now(),
      };
      const stage = { wait: outside.wait, now: outside.now, reload };
      const outcome = await subscribePeople(stage, caller, commit, parsed, snapshot);
      if (outcome.hasJob) await wakeOutbox(outside, clients.queues, { realm, kind: 'subscribed', job });
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
