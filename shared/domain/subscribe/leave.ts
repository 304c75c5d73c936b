import type { Change } from '../../log/commit.ts';
import { MAX_IN_STEP, type Step } from '../../log/in-order.ts';
import type { EventEntry } from '../../log/slot.ts';
import type { Channel, FormerSubscription, Subscription } from '../../model/channel/channel.ts';
import { countSubscribers, settingsOf } from '../../model/subscription/settings.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { peers } from './join.ts';

/** Somebody whose subscription is to end. */
export interface Leaver {
  readonly userId: number;
  readonly subscription: Subscription;
  /** They will not know of the channel any more, so their clients must forget it. */
  readonly losesSight: boolean;
}

/** A channel with the people whose subscriptions to it are to end. */
export interface Leaving {
  readonly channel: Channel;
  readonly leavers: readonly Leaver[];
  /** The decision rests on the channel's settings: somebody is removed by somebody else. */
  readonly restsOnSettings: boolean;
}

/**
 * Ends subscriptions: the writes, and what clients are told (wire facts 4.6, 14.6). What the people had chosen is
 * kept for when they come back. `number(i)` is the number of entry i.
 */
export function doLeave(
  realm: string,
  leavings: readonly Leaving[],
  number: (index: number) => number,
): Change<void> {
  const entries = [...removals(leavings), ...forgetting(leavings), ...leavings.flatMap(departures)];
  const ended = number(entries.length - 1);
  return {
    writes: leavings.flatMap((leaving) => [
      ...channelWrites(realm, leaving),
      ...leaving.leavers.flatMap((leaver) => departure(realm, leaver, ended)),
    ]),
    entries,
    result: undefined,
  };
}

/** How many numbers of the log `doLeave` needs for these. */
export const entriesOfLeave = (leavings: readonly Leaving[]): number =>
  doLeave('', leavings, () => 0).entries.length;

const channelWrites = (realm: string, { channel, leavers, restsOnSettings }: Leaving): Write[] => [
  countSubscribers(realm, channel.channelId, -leavers.length),
  ...(restsOnSettings
    ? [
        {
          check: key('channel', { realm, channelId: channel.channelId }),
          when: { equals: { version: channel.version } },
        },
      ]
    : []),
];

function departure(realm: string, { userId, subscription }: Leaver, ended: number): Write[] {
  const { channelId } = subscription;
  const former: FormerSubscription = { ...settingsOf(subscription), userId, channelId, ended };
  return [
    {
      delete: key('subscription', { realm, userId, channelId }),
      // Had it begun with a later number of the log than ours, clients would be told in the wrong order. Asleep it
      // is not counted (`dormancy.ts`).
      when: { absent: false, equals: { dormant: undefined }, below: { since: ended } },
    },
    { delete: key('subscriber', { realm, channelId, userId }) },
    { put: key('former', { realm, userId, channelId }), item: { ...former } },
  ];
}

/** Tells people what they are not subscribed to any more; those who lose the same are told by one event. */
function removals(leavings: readonly Leaving[]): EventEntry[] {
  return byChannels(leavings, () => true).map(({ users, channels }) => ({
    kind: 'event',
    hearers: { users },
    payload: {
      type: 'subscription',
      op: 'remove',
      subscriptions: channels.map(({ channelId, name }) => ({ stream_id: channelId, name })),
    },
    access: true,
  }));
}

/**
 * Tells who left. Of several, those who may still know of the channel hear of the others too, and not of themselves: of
 * that they are told already.
 */
function departures({ channel, leavers }: Leaving): EventEntry[] {
  const events = peers('peer_remove')({ channel, newcomers: leavers });
  if (leavers.length === 1) return events;
  return events.map((event) => ({ ...event, hearers: { channel: channel.channelId }, fill: 'others' }));
}

/** Lets the clients of those who lose sight of a channel forget it. */
function forgetting(leavings: readonly Leaving[]): EventEntry[] {
  return byChannels(leavings, ({ losesSight }) => losesSight).map(({ users, channels }) => ({
    kind: 'event',
    hearers: { users },
    payload: {
      type: 'stream',
      op: 'delete',
      stream_ids: channels.map(({ channelId }) => channelId),
      streams: channels.map(({ channelId }) => ({ stream_id: channelId })),
    },
    access: true,
  }));
}

/** The leavers to whom something applies, together with those to whom it applies in the same channels. */
function byChannels(
  leavings: readonly Leaving[],
  applies: (leaver: Leaver) => boolean,
): { users: number[]; channels: Channel[] }[] {
  const byUser = new Map<number, Channel[]>();
  for (const { channel, leavers } of leavings) {
    for (const leaver of leavers.filter(applies)) {
      const channels = byUser.get(leaver.userId);
      if (channels) channels.push(channel);
      else byUser.set(leaver.userId, [channel]);
    }
  }
  const groups = new Map<string, { users: number[]; channels: Channel[] }>();
  for (const [userId, channels] of byUser) {
    const same = channels.map(({ channelId }) => channelId).join();
    const group = groups.get(same);
    if (group) group.users.push(userId);
    else groups.set(same, { users: [userId], channels });
  }
  return [...groups.values()];
}

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
