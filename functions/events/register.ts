import { isDeepStrictEqual } from 'node:util';
import { eventIdOf, putQueue } from '../../shared/domain/event/queue.ts';
import { checkQueue, loadBeginning, parseRegistration } from '../../shared/domain/register/queue.ts';
import { loadInitialState, outsideForState } from '../../shared/domain/register/state.ts';
import { registerQueue } from '../../shared/endpoints/events.ts';
import { ConflictError } from '../../shared/log/commit.ts';
import { FEATURE_LEVEL, REFERENCE_VERSION } from '../../shared/model/realm/realm.ts';
import { accessCaller } from '../../shared/model/user/caller.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(registerQueue, {
  parse: (given) => parseRegistration(given),
  load: (request) => loadBeginning(request.outside, request.log, request, request.input),
  run: async (request, beginning) => {
    const { input, caller, realm, userId, ownerId, baseUrl } = request;
    const { end, hints } = beginning;
    const outside = outsideForState(request, input.types);
    const queue = checkQueue(caller, input, beginning, outside);
    const maxMessageId = end.messageId ?? end.seq;
    const [state, callerNow, { queueId }] = await Promise.all([
      loadInitialState({
        outside,
        caller,
        baseUrl,
        capabilities: queue.capabilities,
        clientGravatar: queue.clientGravatar,
        slimPresence: input.slim_presence ?? false,
        presenceDays: input.presence_history_limit_days,
        includeSubscribers: input.includeSubscribers,
        types: input.types,
        cursor: queue.start,
        maxMessageId,
        hints,
      }),
      accessCaller(outside, realm, userId, ownerId),
      putQueue(outside.table, realm, queue, outside.now()),
    ]);
    // The caller was read beside the end of the log, and the state rests on it: a change in between would be in neither
    // the state nor the events. The queue that was put is never polled, and goes as any idle one.
    if (!isDeepStrictEqual(callerNow, caller)) throw new ConflictError([]);
    return {
      ...state,
      queue_id: queueId,
      last_event_id: eventIdOf(queue.start),
      max_message_id: maxMessageId,
      zulip_version: REFERENCE_VERSION,
      zulip_merge_base: REFERENCE_VERSION,
      zulip_feature_level: FEATURE_LEVEL,
      idle_queue_timeout_secs: queue.idle,
      event_queue_longpoll_timeout_seconds: 90,
    };
  },
});
