import { sqsQueues } from '../../shared/adapters/queues.ts';
import { foundFor, loadNamed, type Named, nameLookupKeys } from '../../shared/domain/mention/naming.ts';
import { wakeOutbox } from '../../shared/domain/outbox/outbox.ts';
import { checkPairs, checkWanted, type Wanted } from '../../shared/domain/subscribe/subscribe-check.ts';
import { subscribePeople } from '../../shared/domain/subscribe/subscribe-people.ts';
import {
  knownChannelIds,
  loadChannelIds,
  loadSubscribeGround,
  type Pair,
  type SubscribeGround,
} from '../../shared/domain/subscribe/subscription-ground.ts';
import { hasAnnouncements } from '../../shared/domain/subscribe/subscription-leave.ts';
import type { InputOf, ReplyOf } from '../../shared/endpoints/endpoint.ts';
import { addSubscriptions } from '../../shared/endpoints/subscriptions.ts';
import type { LookupKey } from '../../shared/kernel/lookup.ts';
import type { Queues } from '../../shared/kernel/outside.ts';
import { MOST_AT_ONCE } from '../../shared/log/bulk.ts';
import { MOST_WRITES } from '../../shared/log/commit.ts';
import { renderDescription } from '../../shared/markdown/render.ts';
import { type Wants, wants } from '../../shared/markdown/wants.ts';
import { isWebPublicEnabled } from '../../shared/model/realm/web-public.ts';
import { principalIds, principalLookupKeys } from '../../shared/model/user/principals.ts';
import type { Request, UnverifiedRequest } from '../../shared/serve/request.ts';
import { serve } from '../../shared/serve/serve.ts';

type Add = InputOf<typeof addSubscriptions>;

/** What a request reads, in one round trip. */
interface Loaded {
  readonly ground: SubscribeGround;
  /** What the descriptions refer to. */
  readonly named: Named;
}

/** The names in the descriptions of channels that may have to be created. */
const wantsOf = (wanted: readonly Wanted[]): Wants =>
  wants(wanted.map(({ description }) => description).join('\n\n'));

function pointers({ subscriptions, principals }: Add): LookupKey[] {
  const wanted = checkWanted(subscriptions);
  checkPairs(wanted.length, principals?.length ?? 1);
  return [
    ...wanted.map(({ name }): LookupKey<'channelName'> => ({ kind: 'channelName', name })),
    ...principalLookupKeys(principals),
    ...nameLookupKeys(wantsOf(wanted)),
  ];
}

async function load({ input, realm, userId, resolved, outside }: UnverifiedRequest<Add>): Promise<Loaded> {
  const wanted = checkWanted(input.subscriptions);
  const ids = knownChannelIds(names(wanted), resolved);
  const people = principalIds(input.principals, resolved, userId);
  const [ground, named] = await Promise.all([
    loadSubscribeGround(outside.table, realm, userId, ids, people, input),
    loadNamed(outside, resolved, wantsOf(wanted), userId),
  ]);
  return { ground, named };
}

const names = (wanted: readonly Wanted[]): string[] => wanted.map(({ name }) => name);

interface Tools {
  readonly queues: Queues;
}

/**
 * Numbers for each of the first transactions: one event for the subscribers, and for each channel its creation and the
 * news for the others. Some of them can be under way at once; more people than one of them takes follow one another.
 */
function ahead({ subscriptions, principals }: Add): number[] {
  const people = principals?.length ?? 1;
  const lanes = (channels: number): number[] => {
    const half = Math.ceil(channels / 2);
    if (channels > 1 && writesFor(channels, people) >= MOST_WRITES)
      return [...lanes(half), ...lanes(channels - half)];
    const steps = channels > 1 ? 1 : Math.ceil(people / PEOPLE_IN_ONE);
    return Array<number>(steps).fill(Math.min(2 * channels + 1, MOST_AHEAD));
  };
  return lanes(Math.max(1, subscriptions.length)).slice(0, MOST_AT_ONCE);
}

/** About as many writes as it takes to subscribe people to channels. */
const writesFor = (channels: number, people: number): number => channels * (3 * people + 2) + people + 2;

/** How many people one transaction subscribes to a channel. */
const PEOPLE_IN_ONE = 23;

/** More numbers than one transaction of this kind has events. */
const MOST_AHEAD = 41;

async function run(
  context: Request<Add> & { readonly clients: Tools },
  loaded: Loaded,
): Promise<ReplyOf<typeof addSubscriptions>> {
  const { input, caller, outside, realm, userId, resolved, clients } = context;
  const wanted = checkWanted(input.subscriptions);
  const people = principalIds(input.principals, resolved, userId);
  const found = foundFor(caller.standing, loaded.named);
  const isFatal = input.authorization_errors_fatal ?? true;
  const stage = {
    wait: outside.wait,
    now: outside.now,
    reload: async () => {
      const ids = await loadChannelIds(outside.table, realm, names(wanted));
      return loadSubscribeGround(outside.table, realm, userId, ids, people, input);
    },
  };
  const wantsMessages = input.send_new_subscription_messages ?? true;
  const job = outside.uuid();
  const announce = input.announce === true && hasAnnouncements(caller);
  const outcome = await subscribePeople(
    stage,
    caller,
    context.commit,
    {
      wanted,
      principals: input.principals,
      resolved,
      settings: input,
      render: (description) => renderDescription(description, found),
      refuseUnauthorized: isFatal,
      isWebPublicEnabled: isWebPublicEnabled(outside.environment),
      telling: { job, by: userId, people: wantsMessages, announce },
      now: outside.now(),
    },
    loaded.ground,
  );
  if (outcome.isLeft) await wakeOutbox(outside, clients.queues, { realm, kind: 'subscribed', job });
  return {
    subscribed: byUser(outcome.subscribed),
    already_subscribed: byUser(outcome.already),
    ...(!isFatal && { unauthorized: [...outcome.unauthorized] }),
    ...(wantsMessages && { new_subscription_messages_sent: outcome.tells }),
  };
}

/** Names of channels by the id of the person, as text since JSON has no other keys. */
function byUser(pairs: readonly Pair[]): Record<string, string[]> {
  const lists: Record<string, string[]> = {};
  for (const { userId, channel } of pairs) {
    const list = lists[userId];
    if (list) list.push(channel.name);
    else lists[userId] = [channel.name];
  }
  return lists;
}

export const handler = serve(
  addSubscriptions,
  { keys: pointers, load, reserve: ahead, run },
  { queues: sqsQueues },
);
