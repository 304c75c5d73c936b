import { sqsQueues } from '../../shared/adapters/queues.ts';
import { checkDeletion, loadDeletion } from '../../shared/domain/edit/delete.ts';
import { makeRoom, planRemoval } from '../../shared/domain/edit/removal.ts';
import { releaseJob } from '../../shared/domain/files/claim.ts';
import { wakeOutbox } from '../../shared/domain/outbox/outbox.ts';
import {
  accessTarget,
  checkChangeable,
  loadTarget,
  messageLookupKeys,
} from '../../shared/domain/reader/target.ts';
import { deleteMessage } from '../../shared/endpoints/messages.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  deleteMessage,
  {
    keys: (input) => messageLookupKeys(input.message_id),
    load: ({ input, resolved, outside, userId }) =>
      loadTarget(outside, resolved, userId, input.message_id, (message, reader) =>
        loadDeletion(outside, message, reader),
      ),
    // The message, and the channel if it was its first one.
    reserve: 2,
    run: async ({ realm, caller, outside, commit, clients }, loaded) => {
      const target = await accessTarget(caller.standing, loaded);
      checkChangeable(target);
      checkDeletion(caller, target, outside.now());
      const { table, uuid, now } = outside;
      const { more } = target;
      const { removed, left } = await makeRoom({ table, realm, uuid }, [more.removed], more.left);
      const { count, plan } = planRemoval(realm, removed, left, now());
      const reply = await commit(count, plan);
      const { id, files } = target.message;
      if (files) await wakeOutbox(outside, clients.queues, releaseJob(realm, id));
      return reply;
    },
  },
  { queues: sqsQueues },
);
