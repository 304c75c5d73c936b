import { isDeepStrictEqual } from 'node:util';
import type { OwnedBot } from '../../shared/domain/account/bot.ts';
import { eventIdOf } from '../../shared/domain/event/event-id.ts';
import { checkEventNarrow } from '../../shared/domain/event/event-narrow.ts';
import {
  capabilityNames,
  checkIdleTimeout,
  type EventQueue,
  newQueue,
  putQueue,
} from '../../shared/domain/event/event-queue.ts';
import { type Hints, loadHints } from '../../shared/domain/register/initial-hints.ts';
import { loadInitialState } from '../../shared/domain/register/initial-state.ts';
import type { InputOf } from '../../shared/endpoints/endpoint.ts';
import { registerQueue } from '../../shared/endpoints/events.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import { type StableHead, stableHead } from '../../shared/log/checkpoint.ts';
import { ConflictError } from '../../shared/log/commit.ts';
import { isGuest } from '../../shared/model/permission/permission.ts';
import { FEATURE_LEVEL, REFERENCE_VERSION } from '../../shared/model/realm/realm.ts';
import { accessCaller } from '../../shared/model/user/caller.ts';
import type { Request, UnverifiedRequest } from '../../shared/serve/request.ts';
import { serve } from '../../shared/serve/serve.ts';

type Register = InputOf<typeof registerQueue>;

interface Loaded {
  /** Where the events of the queue begin. The state is read after this is known (DESIGN 5, rule 4). */
  readonly end: StableHead;
  /** What is set for the caller, if it is a bot. */
  readonly bot: OwnedBot | undefined;
  /** What the state probably rests on, so that it can be read in one round trip. */
  readonly hints: Hints;
}

/** The types of events whose state is told; undefined for all. */
const typesIn = (input: Register): ReadonlySet<string> | undefined => {
  const types = input.fetch_event_types ?? input.event_types ?? undefined;
  return types && new Set(types);
};

const includesSubscribers = (input: Register): boolean => (input.include_subscribers ?? 'false') !== 'false';

async function load({
  input,
  realm,
  userId,
  ownerId,
  outside,
  log,
}: UnverifiedRequest<Register>): Promise<Loaded> {
  const { table } = outside;
  const [end, bot, hints] = await Promise.all([
    stableHead(log),
    ownerId === undefined ? undefined : table.get('bot', { realm, ownerId, userId }),
    loadHints(outside, realm, userId, typesIn(input), includesSubscribers(input)),
  ]);
  return { end, bot, hints };
}

async function run(context: Request<Register>, { end, bot, hints }: Loaded) {
  const { input, caller, outside, realm, baseUrl } = context;
  const queue = checkQueue(context, end, bot);
  const maxMessageId = end.messageId ?? end.seq;
  const [state, same, { queueId }] = await Promise.all([
    loadInitialState({
      outside,
      caller,
      baseUrl,
      capabilities: queue.capabilities,
      clientGravatar: queue.clientGravatar,
      slimPresence: input.slim_presence ?? false,
      presenceDays: input.presence_history_limit_days,
      includeSubscribers: includesSubscribers(input),
      types: typesIn(input),
      cursor: queue.start,
      maxMessageId,
      hints,
    }),
    isSame(context),
    putQueue(outside.table, realm, queue, outside.now()),
  ]);
  // The queue that was put is never polled, and goes as any idle one.
  if (!same) throw new ConflictError([]);
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
}

/**
 * Whether the caller is what they were when they were let in. That was read beside the end of the log, and the state
 * rests on it: a change in between would be in neither the state nor the events.
 */
async function isSame({ caller, outside, realm, userId, ownerId }: Request<Register>): Promise<boolean> {
  return isDeepStrictEqual(await accessCaller(outside, realm, userId, ownerId), caller);
}

/** Decides on the queue that is asked for. What a bot does not say, its owner may have set for it. */
function checkQueue(
  { input, caller, outside }: Request<Register>,
  end: StableHead,
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
      includeSubscribers: includesSubscribers(input),
      capabilities: capabilityNames.filter((name) => capabilities[name] === true),
    },
    outside.now(),
  );
}

export const handler = serve(registerQueue, { load, run });
