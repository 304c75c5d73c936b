import { sqsQueues } from '../../shared/adapters/queues.ts';
import {
  acceptRewrite,
  checkRewriting,
  detachFiles,
  rewriteMessage,
} from '../../shared/domain/edit/rewrite.ts';
import { moveMessages } from '../../shared/domain/move/move.ts';
import { endEarlierMoves } from '../../shared/domain/move/rest.ts';
import {
  checkUpdate,
  loadUpdate,
  numbersOfUpdate,
  parseUpdate,
  updateLookupKeys,
} from '../../shared/domain/move/update.ts';
import { wakeOutbox } from '../../shared/domain/outbox/outbox.ts';
import { accessTarget, checkChangeable, loadTarget } from '../../shared/domain/reader/target.ts';
import { updateMessage } from '../../shared/endpoints/messages.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  updateMessage,
  {
    parse: parseUpdate,
    keys: updateLookupKeys,
    load: (request) => {
      const { input, outside, resolved, userId } = request;
      return loadTarget(outside, resolved, userId, input.messageId, (message) =>
        loadUpdate(outside, resolved, request, input, message),
      );
    },
    reserve: numbersOfUpdate,
    // Decides on the whole of the request before anything changes.
    run: async ({ input, caller, outside, commit, clients }, loaded) => {
      const target = await accessTarget(caller.standing, loaded);
      checkChangeable(target);
      const { message, more, seen } = target;
      if (more.standing) await endEarlierMoves(outside, caller.realmId, [more.standing]);
      checkUpdate(input, message);
      const now = outside.now();
      const { content, expected } = input;
      if (content !== undefined) checkRewriting(caller, message, expected, now);
      const rewriting =
        content !== undefined && more.rewriting
          ? await acceptRewrite(outside, caller, content, message, more.rewriting)
          : undefined;
      if (more.relocating === undefined || seen === undefined) {
        if (rewriting) await rewriteMessage({ caller, commit, now }, target, rewriting);
      } else {
        const options = { ...input, rewrite: rewriting?.rewrite };
        const moving = { message, seen };
        const left = await moveMessages({ caller, outside, commit, now }, moving, more.relocating, options);
        await Promise.all(left.map((job) => wakeOutbox(outside, clients.queues, job)));
      }
      return { detached_uploads: await detachFiles(outside, clients.queues, caller, message, rewriting) };
    },
  },
  { queues: sqsQueues },
);
