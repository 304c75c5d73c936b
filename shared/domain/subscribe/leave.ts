import type { Change } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import type { Channel, FormerSubscription, Subscription } from '../../model/channel/channel.ts';
import { countSubscribers, settingsOf } from '../../model/subscription/subscribe.ts';
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
