import { MAX_IN_STEP, type Step } from '../../log/in-order.ts';
import type { Subscription } from '../../model/channel/channel.ts';
import { countSubscribers } from '../../model/subscription/subscribe.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { peers } from './join.ts';

/*
 * A deactivated account is no subscriber of anything: it is not counted, not listed, and reached by no wildcard.
 * What it was subscribed to stays stored under it, asleep, and wakes when it comes back.
 */

/** Most people in one step: a channel has one count, and each of them takes two writes and is held by one. */
const MAX_PEOPLE = Math.floor((MAX_IN_STEP - 1) / 3);

/** Puts these subscriptions to sleep: a step or more for each channel, however many accounts they are of. */
export const suspendSubscriptions = (realm: string, subscriptions: readonly Subscription[]): Step[] =>
  stepsOf(
    realm,
    subscriptions.filter(({ dormant }) => !dormant),
    'peer_remove',
  );

/** Wakes these subscriptions, as far as they are asleep. */
export const resumeSubscriptions = (realm: string, subscriptions: readonly Subscription[]): Step[] =>
  stepsOf(
    realm,
    subscriptions.filter(({ dormant }) => dormant),
    'peer_add',
  );

function stepsOf(
  realm: string,
  subscriptions: readonly Subscription[],
  op: 'peer_remove' | 'peer_add',
): Step[] {
  const byChannel = Map.groupBy(subscriptions, ({ channelId }) => channelId);
  return [...byChannel].flatMap(([channelId, all]) =>
    partsOf(all, MAX_PEOPLE).map((people) => ({
      writes: [
        countSubscribers(realm, channelId, op === 'peer_add' ? people.length : -people.length),
        ...people.flatMap((subscription) =>
          op === 'peer_add' ? wake(realm, subscription) : sleep(realm, subscription),
        ),
      ],
      entries: peers(op)({ channel: { channelId }, newcomers: people }),
      held: people.map(({ userId }) => (op === 'peer_add' ? stillOut : sleeper)(realm, userId)),
    })),
  );
}

/**
 * Holds a wake to the account being out. Who sleeps there after somebody has looked must be looked at again before
 * the account comes back, so that is counted as an arrival.
 */
const stillOut = (realm: string, userId: number): Write => ({
  check: key('user', { realm, userId }),
  when: { equals: { isActive: false } },
});
const sleeper = (realm: string, userId: number): Write => ({
  update: key('user', { realm, userId }),
  change: { add: { arrivals: 1 } },
  when: { equals: { isActive: false } },
});

const sleep = (realm: string, { userId, channelId }: Subscription): Write[] => [
  {
    update: key('subscription', { realm, userId, channelId }),
    change: { set: { dormant: true } },
    when: { absent: false, equals: { dormant: undefined } },
    lastWriterWins: true,
  },
  { delete: key('subscriber', { realm, channelId, userId }) },
];

const wake = (realm: string, { userId, channelId }: Subscription): Write[] => [
  {
    update: key('subscription', { realm, userId, channelId }),
    change: { remove: ['dormant'] },
    when: { equals: { dormant: true } },
    lastWriterWins: true,
  },
  { put: key('subscriber', { realm, channelId, userId }), item: { userId } },
];

const partsOf = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
