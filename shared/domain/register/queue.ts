import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { type StableHead, stableHead } from '../../log/checkpoint.ts';
import type { Log } from '../../log/log.ts';
import { isGuest } from '../../model/permission/permission.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { OwnedBot } from '../account/bot.ts';
import { checkEventNarrow } from '../event/narrow.ts';
import {
  type Capability,
  capabilityNames,
  checkIdleTimeout,
  type EventQueue,
  newQueue,
} from '../event/queue.ts';
import { type Hints, loadHints } from './hints.ts';

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
}

/** What a registration asks for, besides what is checked when the queue is made. */
export const parseRegistration = <P extends RegisterParameters>(given: P) => {
  const types = given.fetch_event_types ?? given.event_types ?? undefined;
  return {
    ...given,
    /** The types of events whose state is told; undefined for all. */
    types: types && new Set(types),
    includeSubscribers: (given.include_subscribers ?? 'false') !== 'false',
  };
};

type AskedRegistration = ReturnType<typeof parseRegistration<RegisterParameters>>;

/** What a registration reads first. */
export interface Beginning {
  /** Where the events of the queue begin. The state is read after this is known (DESIGN 5, rule 4). */
  readonly end: StableHead;
  /** What is set for the caller, if it is a bot. */
  readonly bot: OwnedBot | undefined;
  /** What the state probably rests on, so that it can be read in one round trip. */
  readonly hints: Hints;
}

/** Reads it. One round trip, while the floor of the log is near. */
export async function loadBeginning(
  outside: Outside,
  log: Log,
  { userId, ownerId }: { readonly userId: number; readonly ownerId?: number },
  { types, includeSubscribers }: AskedRegistration,
): Promise<Beginning> {
  const { realm } = log;
  const [end, bot, hints] = await Promise.all([
    stableHead(log),
    ownerId === undefined ? undefined : outside.table.get('bot', { realm, ownerId, userId }),
    loadHints(outside, realm, userId, types, includeSubscribers),
  ]);
  return { end, bot, hints };
}

/** Decides on the queue that is asked for. What a bot does not say, its owner may have set for it. */
export function checkQueue(
  { standing, user }: Caller,
  asked: AskedRegistration,
  { end, bot }: Beginning,
  { uuid, now }: Outside,
): EventQueue {
  const allPublicChannels = asked.all_public_streams ?? bot?.allPublicChannels ?? false;
  if (allPublicChannels && isGuest(standing)) {
    throw badRequest('Guests cannot listen to all public channels.');
  }
  const narrow = checkEventNarrow(asked.narrow ?? []);
  const usual = bot?.eventsChannelId;
  const { event_types: eventTypes, client_capabilities: capabilities = {} } = asked;
  return newQueue(
    {
      queueId: uuid(),
      userId: user.userId,
      start: end.seq,
      idle: checkIdleTimeout(asked.idle_queue_timeout, asked.queue_lifespan_secs),
      ...(eventTypes && { eventTypes: [...new Set(eventTypes)] }),
      narrow:
        narrow.length === 0 && usual !== undefined
          ? [{ operator: 'channel', operand: usual, negated: false }]
          : narrow,
      allPublicChannels,
      applyMarkdown: asked.apply_markdown ?? false,
      clientGravatar: asked.client_gravatar ?? true,
      includeSubscribers: asked.includeSubscribers,
      capabilities: capabilityNames.filter((name) => capabilities[name] === true),
    },
    now(),
  );
}
