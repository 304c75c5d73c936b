import { checkEventNarrow } from '../../shared/domain/event/event-narrow.ts';
import {
  capabilityNames,
  checkIdleTimeout,
  type EventQueue,
  newQueue,
  putQueue,
} from '../../shared/domain/event/event-queue.ts';
import { isGuest } from '../../shared/domain/permission.ts';
import { badRequest } from '../../shared/domain/problems.ts';
import { FEATURE_LEVEL, REFERENCE_VERSION } from '../../shared/domain/realm/realm.ts';
import { loadInitialState } from '../../shared/domain/register/initial-state.ts';
import type { OwnedBot } from '../../shared/domain/user/bot.ts';
import type { InputOf } from '../../shared/endpoints/endpoint.ts';
import { registerQueue } from '../../shared/endpoints/events.ts';
import { type SolidEnd, solidEnd } from '../../shared/log/solid.ts';
import type { Context, Look } from '../../shared/serve/request.ts';
import { serve } from '../../shared/serve/serve.ts';
import { key } from '../../shared/table/keys.ts';

type Register = InputOf<typeof registerQueue>;

interface Loaded {
  /** Where the events of the queue begin. The state is read after this is known (DESIGN 5, rule 4). */
  readonly end: SolidEnd;
  /** What is set for the caller, if it is a bot. */
  readonly bot: OwnedBot | undefined;
}

async function load({ realm, userId, ownerId, outside, log }: Look<Register>): Promise<Loaded> {
  const [end, bot] = await Promise.all([
    solidEnd(log),
    ownerId === undefined ? undefined : outside.table.get<OwnedBot>(key('bot', { realm, ownerId, userId })),
  ]);
  return { end, bot };
}

async function run(context: Context<Register>, { end, bot }: Loaded) {
  const { input, caller, outside, realm, baseUrl } = context;
  const queue = checkQueue(context, end, bot);
  const maxMessageId = end.messageId ?? end.seq;
  const types = input.fetch_event_types ?? input.event_types ?? undefined;
  const [state] = await Promise.all([
    loadInitialState({
      outside,
      caller,
      baseUrl,
      capabilities: queue.capabilities,
      clientGravatar: queue.clientGravatar,
      includeSubscribers: (input.include_subscribers ?? 'false') !== 'false',
      types: types && new Set(types),
      cursor: queue.start,
      maxMessageId,
    }),
    putQueue(outside.table, realm, queue),
  ]);
  return {
    ...state,
    queue_id: queue.queueId,
    last_event_id: queue.start,
    max_message_id: maxMessageId,
    zulip_version: REFERENCE_VERSION,
    zulip_merge_base: REFERENCE_VERSION,
    zulip_feature_level: FEATURE_LEVEL,
    idle_queue_timeout_secs: queue.idle,
    event_queue_longpoll_timeout_seconds: 90,
  };
}

/** Decides on the queue that is asked for. What a bot does not say, its owner may have set for it. */
function checkQueue(
  { input, caller, outside }: Context<Register>,
  end: SolidEnd,
  bot: Loaded['bot'],
): EventQueue {
  const allPublicChannels = input.all_public_streams ?? bot?.allPublicChannels ?? false;
  if (allPublicChannels && isGuest(caller.standing)) {
    throw badRequest('Guests cannot listen to all public channels.');
  }
  const narrow = checkEventNarrow(input.narrow ?? []);
  const usual = bot?.eventsChannelId;
  const { event_types: eventTypes, client_capabilities: capabilities = {} } = input;
  return newQueue(
    {
      queueId: outside.uuid(),
      userId: caller.user.userId,
      start: end.seq,
      idle: checkIdleTimeout(input.idle_queue_timeout, input.queue_lifespan_secs),
      ...(eventTypes && { eventTypes: [...new Set(eventTypes)] }),
      narrow:
        narrow.length === 0 && usual !== undefined
          ? [{ operator: 'channel', operand: usual, negated: false }]
          : narrow,
      allPublicChannels,
      applyMarkdown: input.apply_markdown ?? false,
      clientGravatar: input.client_gravatar ?? true,
      capabilities: capabilityNames.filter((name) => capabilities[name] === true),
    },
    outside.now(),
  );
}

export const handler = serve(registerQueue, { load, run });
