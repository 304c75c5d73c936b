import { badRequest } from '../../kernel/errors.ts';
import { loadList } from '../../kernel/list-cache.ts';
import type { Outside } from '../../kernel/outside.ts';
import { stableHead } from '../../log/checkpoint.ts';
import type { Log } from '../../log/log.ts';
import { isGuest } from '../../model/permission/permission.ts';
import type { Caller } from '../../model/user/caller.ts';
import { checkEventNarrow } from '../event/narrow.ts';
import {
  type Capability,
  capabilityNames,
  checkIdleTimeout,
  type EventQueue,
  newQueue,
} from '../event/queue.ts';
import { Reader } from '../reader/reader.ts';

/** The parameters of a registration (specification 4.3). */
interface RegisterParameters {
  readonly event_types?: readonly string[] | null | undefined;
  readonly fetch_event_types?: readonly string[] | null | undefined;
  readonly include_subscribers?: string | undefined;
  readonly all_public_streams?: boolean | undefined;
  readonly narrow?: Parameters<typeof checkEventNarrow>[0] | null | undefined;
  readonly client_capabilities?: { readonly [name in Capability]?: unknown } | undefined;
  readonly idle_queue_timeout?: string | undefined;
  readonly queue_lifespan_secs?: number | undefined;
  readonly apply_markdown?: boolean | undefined;
  readonly client_gravatar?: boolean | undefined;
  readonly slim_presence?: boolean | undefined;
}

/** Interprets the parameters. `types` are the types of state to send; undefined for all. */
export const parseRegistration = <P extends RegisterParameters>(given: P) => {
  const types = given.fetch_event_types ?? given.event_types ?? undefined;
  return {
    ...given,
    types: types && new Set(types),
    includeSubscribers: (given.include_subscribers ?? 'false') !== 'false',
  };
};

type Registration = ReturnType<typeof parseRegistration<RegisterParameters>>;

/**
 * Loads the head of the log, where the events of the queue begin; the settings of the caller, if it is a bot; and the
 * hints. One round trip, if the checkpoint of the log is near its head.
 */
export async function loadBeginning(
  outside: Outside,
  log: Log,
  { userId, ownerId }: { readonly userId: number; readonly ownerId?: number },
  registration: Registration,
) {
  const { realm } = log;
  const [end, bot, hints] = await Promise.all([
    stableHead(log, {
      heads: outside.cache.heads,
      userIds: [userId, ...(ownerId === undefined ? [] : [ownerId])],
    }),
    ownerId === undefined ? undefined : outside.table.get('bot', { realm, ownerId, userId }),
    loadHints(outside, realm, userId, registration),
  ]);
  return { end, bot, hints };
}

export type Hints = Awaited<ReturnType<typeof loadHints>>;

/**
 * Loads what the state probably needs, before the cursor of the queue is fixed. So it may not be part of the state (DESIGN
 * 5, rule 4), which reads it again. But it tells where else to look, so that those reads can start at once: what is new
 * since then costs one more round trip. `channels` and `groups` are empty if the state does not list their members. One
 * round trip.
 */
async function loadHints(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  userId: number,
  { types, includeSubscribers }: Registration,
) {
  const wants = (type: string): boolean => types === undefined || types.has(type);
  const reader = new Reader(outside, realm, userId);
  const lists = wants('subscription') && includeSubscribers;
  const unread = wants('update_message_flags');
  const people = ['realm_user', 'presence', 'user_status'].some(wants);
  const [channels, groups] = await Promise.all([
    lists ? loadList(outside, 'channel', realm) : [],
    wants('realm_user_groups') ? loadList(outside, 'group', realm) : [],
    (lists || unread || people) && reader.subscriptions(),
    (unread || people || wants('recent_private_conversations')) && reader.directMemberships(),
    unread && reader.states(),
    unread && reader.self(),
    unread && reader.topicPolicies(),
  ]);
  return { reader, channels, groups };
}

/** Checks the parameters of the queue. For a bot, the defaults are the settings that its owner made. */
export function checkQueue(
  { standing, user }: Caller,
  registration: Registration,
  { end, bot }: Awaited<ReturnType<typeof loadBeginning>>,
  { uuid, now }: Outside,
): EventQueue {
  const allPublicChannels = registration.all_public_streams ?? bot?.allPublicChannels ?? false;
  if (allPublicChannels && isGuest(standing)) {
    throw badRequest('Guests cannot listen to all public channels.');
  }
  const narrow = checkEventNarrow(registration.narrow ?? []);
  const usual = bot?.eventsChannelId;
  const { event_types: eventTypes, client_capabilities: capabilities = {} } = registration;
  return newQueue(
    {
      queueId: uuid(),
      userId: user.userId,
      start: end.seq,
      idle: checkIdleTimeout(registration.idle_queue_timeout, registration.queue_lifespan_secs),
      ...(eventTypes && { eventTypes: [...new Set(eventTypes)] }),
      narrow:
        narrow.length === 0 && usual !== undefined
          ? [{ operator: 'channel', operand: usual, negated: false }]
          : narrow,
      allPublicChannels,
      applyMarkdown: registration.apply_markdown ?? false,
      clientGravatar: registration.client_gravatar ?? true,
      ...(registration.slim_presence && { slimPresence: true }),
      includeSubscribers: registration.includeSubscribers,
      capabilities: capabilityNames.filter((name) => capabilities[name] === true),
    },
    now(),
  );
}
