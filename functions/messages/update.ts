import { sqsQueues } from '../../shared/adapters/queues.ts';
import { rewriteMessage } from '../../shared/domain/edit/change.ts';
import {
  checkRewrite,
  checkRewriting,
  editedContent,
  loadRewrite,
} from '../../shared/domain/edit/rewrite.ts';
import { nameLookupKeys } from '../../shared/domain/mention/naming.ts';
import { moveMessages } from '../../shared/domain/move/message-move.ts';
import {
  type AskedUpdate,
  checkUpdate,
  loadRelocating,
  loadStanding,
} from '../../shared/domain/move/message-update.ts';
import { endEarlierMoves } from '../../shared/domain/move/move-rest.ts';
import { STEP } from '../../shared/domain/move/move-step.ts';
import { wakeOutbox } from '../../shared/domain/outbox/outbox.ts';
import {
  accessTarget,
  checkChangeable,
  loadTarget,
  messageLookupKeys,
} from '../../shared/domain/reader/target.ts';
import type { InputOf } from '../../shared/endpoints/endpoint.ts';
import { updateMessage } from '../../shared/endpoints/message-edit.ts';
import type { LookupKey } from '../../shared/kernel/lookup.ts';
import type { Queues } from '../../shared/kernel/outside.ts';
import type { MessageSlot } from '../../shared/log/slot.ts';
import { wants } from '../../shared/markdown/wants.ts';
import { checkTopic } from '../../shared/model/message/text.ts';
import type { Request, UnverifiedRequest } from '../../shared/serve/request.ts';
import { serve } from '../../shared/serve/serve.ts';

type Update = InputOf<typeof updateMessage>;

interface Tools {
  readonly queues: Queues;
}

/** What is asked for, in the terms of the domain. */
const askedIn = (input: Update): AskedUpdate => ({
  ...(input.content !== undefined && { content: editedContent(input.content) }),
  ...(input.topic !== undefined && { topic: checkTopic(input.topic) }),
  ...(input.stream_id !== undefined && { channelId: input.stream_id }),
  mode: input.propagate_mode ?? 'change_one',
});

const namesIn = ({ content = '' }: AskedUpdate) => wants(content);

function pointers(input: Update): LookupKey[] {
  const asked = askedIn(input);
  checkUpdate(asked);
  return [...messageLookupKeys(input.message_id), ...nameLookupKeys(namesIn(asked))];
}

function load({ input, resolved, outside, userId, ownerId }: UnverifiedRequest<Update>) {
  const asked = askedIn(input);
  const loadMore = async (message: MessageSlot) => {
    const [rewriting, standing, relocating] = await Promise.all([
      asked.content === undefined
        ? undefined
        : loadRewrite(outside, resolved, userId, message, namesIn(asked)),
      loadStanding(outside.table, resolved.realm, message, asked),
      loadRelocating(outside, resolved.realm, message, asked, {
        userId,
        ...(ownerId !== undefined && { ownerId }),
      }),
    ]);
    return { rewriting, standing, relocating };
  };
  return loadTarget(outside, resolved, userId, input.message_id, loadMore);
}

/**
 * A number for the event; for a move also that of the notice; and of the news of a message that left its channel: that it
 * did, for whom it is unread or not by that, and which is the oldest in either channel. Others that go with it are told
 * by an event of their own, and each of them that it left its channel.
 */
function numbersFor(input: Update): number {
  const { topic, stream_id, propagate_mode, send_notification_to_new_thread: inNew = true } = input;
  const leaves = stream_id !== undefined;
  const moves = topic !== undefined || leaves;
  const others = propagate_mode === 'change_later' || propagate_mode === 'change_all' ? STEP - 1 : 0;
  return 1 + (leaves ? 5 + others : 0) + (moves && others > 0 ? 1 : 0) + (moves && inNew ? 1 : 0);
}

/** Decides on the whole of the request before anything changes. */
async function run(
  context: Request<Update> & { readonly clients: Tools },
  loaded: Awaited<ReturnType<typeof load>>,
) {
  const { input, caller, outside, commit, clients } = context;
  const asked = askedIn(input);
  const target = await accessTarget(caller.standing, loaded);
  checkChangeable(target);
  const { message, more, seen } = target;
  if (more.standing) await endEarlierMoves(outside, caller.realmId, [more.standing]);
  checkUpdate(asked, message);
  const now = outside.now();
  if (asked.content !== undefined) checkRewriting(caller, message, input.prev_content_sha256, now);
  const rewriting =
    asked.content === undefined || more.rewriting === undefined
      ? undefined
      : {
          ground: more.rewriting,
          rewrite: await checkRewrite(outside, caller, asked.content, message, more.rewriting),
        };
  if (more.relocating === undefined || seen === undefined) {
    if (rewriting) await rewriteMessage({ caller, commit, now }, target, rewriting);
  } else {
    const left = await moveMessages({ caller, outside, commit, now }, { message, seen }, more.relocating, {
      mode: asked.mode,
      rewriting,
      inOld: input.send_notification_to_old_thread ?? false,
      inNew: input.send_notification_to_new_thread ?? true,
    });
    await Promise.all(left.map((job) => wakeOutbox(outside, clients.queues, job)));
  }
  return { detached_uploads: [] };
}

export const handler = serve(
  updateMessage,
  { keys: pointers, load, reserve: numbersFor, run },
  { queues: sqsQueues },
);
