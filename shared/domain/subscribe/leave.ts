import { chunksOf } from '../../lists.ts';
import { MAX_IN_STEP, type Step } from '../../log/bulk.ts';
import type { Change } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import type { Channel, FormerSubscription, Subscription } from '../../model/channel/channel.ts';
import { channelsGone } from '../../model/channel/object.ts';
import { countSubscribers, settingsOf } from '../../model/subscription/settings.ts';
import { key } from '../../table/keys.ts';
import { hasVersion, type Write } from '../../table/write.ts';
import { eventsOfLists, peerEvents } from './join.ts';

/** A user whose subscription ends. */
export interface Leaver {
  readonly userId: number;
  readonly subscription: Subscription;
  /** They will no longer see the channel, so their clients must forget it. */
  readonly losesAccess: boolean;
}

/** A channel and the users whose subscriptions to it end. */
export interface Leaving {
  readonly channel: Channel;
  readonly people: readonly Leaver[];
  /** The decision depends on the channel's settings, because the caller removes others. */
  readonly dependsOnSettings: boolean;
}

/**
 * Ends subscriptions: the writes and the events (wire facts 4.6, 14.6). Personal settings are kept in case people come
 * back. `number(i)` is the log number of entry i.
 */
export function doLeave(
  realm: string,
  leavings: readonly Leaving[],
  number: (index: number) => number,
): Change<void> {
  const pairs = leavings.flatMap(({ channel, people }) => people.map((leaver) => ({ ...leaver, channel })));
  const contentOf = ({ channel }: (typeof pairs)[number]) => channel.channelId;
  const entries = [
    ...eventsOfLists(pairs, contentOf, (list) => ({
      type: 'subscription',
      op: 'remove',
      subscriptions: list.map(({ channel: { channelId, name } }) => ({ stream_id: channelId, name })),
    })),
    ...eventsOfLists(
      pairs.filter(({ losesAccess }) => losesAccess),
      contentOf,
      (list) => channelsGone(list.map(contentOf)),
    ),
    ...leavings.flatMap(departures),
  ];
  const ended = number(entries.length - 1);
  return {
    writes: leavings.flatMap((leaving) => [
      ...channelWrites(realm, leaving),
      ...leaving.people.flatMap((leaver) => leaverWrites(realm, leaver, ended)),
    ]),
    entries,
    result: undefined,
  };
}

function channelWrites(realm: string, { channel, people, dependsOnSettings }: Leaving): Write[] {
  const { channelId, version } = channel;
  const count = countSubscribers(realm, channelId, -people.length);
  return dependsOnSettings
    ? [count, { check: key('channel', { realm, channelId }), when: hasVersion(version) }]
    : [count];
}

function leaverWrites(realm: string, { userId, subscription }: Leaver, ended: number): Write[] {
  const { channelId } = subscription;
  const former: FormerSubscription = { ...settingsOf(subscription), userId, channelId, ended };
  return [
    {
      delete: key('subscription', { realm, userId, channelId }),
      // If it began at a later log number than ours, clients would get the events in the wrong order. A dormant
      // subscription is not counted.
      when: { absent: false, equals: { dormant: undefined }, below: { since: ended } },
    },
    { delete: key('subscriber', { realm, channelId, userId }) },
    { put: key('former', { realm, userId, channelId }), item: { ...former } },
  ];
}

/** The `peer_remove` events. If several leave, each of them who can still see the channel gets the others' ids. */
function departures({ channel: { channelId }, people }: Leaving): EventEntry[] {
  const events = peerEvents('peer_remove', channelId, people);
  if (people.length === 1) return events;
  return events.map((event) => ({ ...event, hearers: { channel: channelId }, fill: 'others' }));
}

/*
 * A deactivated account is not a subscriber: it is not counted, not listed, and wildcards do not reach it. Its
 * subscriptions stay stored as dormant, and become active again with the account.
 */

/** Most people in one step: the channel has one count, and each person takes two writes and one check. */
const MAX_PEOPLE = Math.floor((MAX_IN_STEP - 1) / 3);

/**
 * Makes subscriptions dormant, or active again if not `suspends`, of however many accounts: one step or more for each
 * channel. Leaves out those that are so already.
 */
export function dormancySteps(
  realm: string,
  subscriptions: readonly Subscription[],
  suspends: boolean,
): Step[] {
  const changing = subscriptions.filter(({ dormant = false }) => dormant !== suspends);
  const byChannel = Map.groupBy(changing, ({ channelId }) => channelId);
  return [...byChannel].flatMap(([channelId, all]) =>
    chunksOf(all, MAX_PEOPLE).map((people) => ({
      writes: [
        countSubscribers(realm, channelId, suspends ? -people.length : people.length),
        ...people.flatMap((subscription) => dormancyWrites(realm, subscription, suspends)),
      ],
      entries: peerEvents(suspends ? 'peer_remove' : 'peer_add', channelId, people),
      held: people.map(({ userId }) => inactiveAccount(realm, userId, suspends)),
    })),
  );
}

/**
 * Requires the account to be inactive. A new dormant subscription must be resumed before the account comes back, so it is
 * also counted as an arrival, which makes a concurrent reactivation look again.
 */
const inactiveAccount = (realm: string, userId: number, countsArrival: boolean): Write => {
  const [user, when] = [key('user', { realm, userId }), { equals: { isActive: false } }];
  return countsArrival ? { update: user, change: { add: { arrivals: 1 } }, when } : { check: user, when };
};

function dormancyWrites(realm: string, { userId, channelId }: Subscription, suspends: boolean): Write[] {
  const subscriber = key('subscriber', { realm, channelId, userId });
  return [
    {
      update: key('subscription', { realm, userId, channelId }),
      change: suspends ? { set: { dormant: true } } : { remove: ['dormant'] },
      when: suspends ? { absent: false, equals: { dormant: undefined } } : { equals: { dormant: true } },
      lastWriterWins: true,
    },
    suspends ? { delete: subscriber } : { put: subscriber, item: { userId } },
  ];
}
