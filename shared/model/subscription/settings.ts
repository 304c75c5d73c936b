import { badRequest } from '../../kernel/errors.ts';
import { isId } from '../../kernel/lookup.ts';
import type { Change } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import type { Subscription, SubscriptionSettings } from '../channel/channel.ts';
import { loadSomeSubscriptions } from './object.ts';

/** The colors of new subscriptions, in turn. */
const COLORS = ['#76ce90', '#fae589', '#a6c7e5', '#e79ab5', '#bfd56f', '#f4ae55', '#b0a5fd', '#addfe5'];

/** The settings of a first subscription to a channel. */
export const newSubscriptionSettings = (channelId: number): SubscriptionSettings => ({
  color: COLORS[channelId % COLORS.length] ?? '#c2c2c2',
  isMuted: false,
  pinToTop: false,
});

/** The personal settings in a stored subscription. */
export const settingsOf = (stored: SubscriptionSettings): SubscriptionSettings => {
  const { color, isMuted, pinToTop } = stored;
  const chosen = [...switches.values()].filter((name) => stored[name] !== undefined);
  return { color, isMuted, pinToTop, ...Object.fromEntries(chosen.map((name) => [name, stored[name]])) };
};

/** The subscription, guarded against concurrent requests, and its inverse. Counting it is another write. */
export const subscriptionWrites = (realm: string, subscription: Subscription): Write[] => {
  const { userId, channelId } = subscription;
  return [
    {
      put: key('subscription', { realm, userId, channelId }),
      item: { ...subscription },
      when: { absent: true },
    },
    { put: key('subscriber', { realm, channelId, userId }), item: { userId } },
  ];
};

/** Adds to the number of subscribers. One write for any number. */
export const countSubscribers = (realm: string, channelId: number, more: number): Write => ({
  update: key('channelCount', { realm, channelId }),
  change: { add: { subscribers: more } },
});

const COLOR = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i;

/** Refuses text that is not a color. */
export function checkColor(color: string): string {
  if (!COLOR.test(color)) throw badRequest('A color is written as # and three or six hexadecimal digits.');
  return color;
}

/** One property in a request. */
export interface PropertyInput {
  readonly stream_id: number;
  readonly property: string;
  readonly value: unknown;
}

/** A checked property, with its names on the wire and in the store. */
interface PropertyChange {
  readonly channelId: number;
  readonly property: string;
  readonly name: keyof SubscriptionSettings;
  readonly value: string | boolean;
}

/** The boolean properties: wire name -> stored name. */
const switches: ReadonlyMap<string, keyof SubscriptionSettings> = new Map([
  ['is_muted', 'isMuted'],
  ['pin_to_top', 'pinToTop'],
  ['desktop_notifications', 'desktopNotifications'],
  ['audible_notifications', 'audibleNotifications'],
  ['push_notifications', 'pushNotifications'],
  ['email_notifications', 'emailNotifications'],
  ['wildcard_mentions_notify', 'wildcardMentionsNotify'],
]);

/** Most channels in one request: each is a write of its one transaction. */
const MAX_CHANNELS = 90;

/** Checks properties and values. `in_home_view` is the older name for not being muted. */
export function checkProperties(properties: readonly PropertyInput[]): PropertyChange[] {
  if (new Set(properties.map(({ stream_id }) => stream_id)).size > MAX_CHANNELS) {
    throw badRequest(`At most ${MAX_CHANNELS} channels can be changed in one request.`);
  }
  return properties.map(({ stream_id: channelId, property, value }) => {
    if (property === 'color') {
      if (typeof value !== 'string') throw badRequest("The value of 'color' is not a string.");
      return { channelId, property, name: 'color', value: checkColor(value) };
    }
    const isOlderName = property === 'in_home_view';
    const name = isOlderName ? 'isMuted' : switches.get(property);
    if (name === undefined) throw badRequest('There is no such property of a subscription.');
    if (typeof value !== 'boolean') throw badRequest(`The value of '${property}' is not a boolean.`);
    return isOlderName
      ? { channelId, property: 'is_muted', name, value: !value }
      : { channelId, property, name, value };
  });
}

/** The subscriptions in a request, by channel id. One round trip. */
export function loadChangedSubscriptions(
  table: Table,
  realm: string,
  userId: number,
  properties: readonly PropertyInput[],
): Promise<ReadonlyMap<number, Subscription>> {
  const ids = [...new Set(properties.map(({ stream_id }) => stream_id).filter(isId))];
  return loadSomeSubscriptions(table, realm, userId, ids.slice(0, MAX_CHANNELS));
}

/** The properties that change, the last value of each. Refuses channels that the user is not subscribed to. */
export function checkPropertyChanges(
  changes: readonly PropertyChange[],
  subscriptions: ReadonlyMap<number, Subscription>,
): PropertyChange[] {
  const last = new Map(changes.map((change) => [`${change.channelId} ${change.name}`, change]));
  for (const { channelId } of changes) {
    if (!subscriptions.has(channelId)) {
      throw badRequest(`You are not subscribed to the channel with the ID ${channelId}.`);
    }
  }
  return [...last.values()].filter(
    ({ channelId, name, value }) => subscriptions.get(channelId)?.[name] !== value,
  );
}

/** Writes the properties; the events are for the user's own clients. */
export function doChangeProperties(
  realm: string,
  userId: number,
  changes: readonly PropertyChange[],
): Change<Record<string, never>> {
  const byChannel = new Map<number, Record<string, string | boolean>>();
  for (const { channelId, name, value } of changes) {
    byChannel.set(channelId, { ...byChannel.get(channelId), [name]: value });
  }
  const writes = [...byChannel].map(
    ([channelId, set]): Write => ({
      update: key('subscription', { realm, userId, channelId }),
      change: { set },
      when: { absent: false },
      lastWriterWins: true,
    }),
  );
  return { writes, entries: eventsOf(userId, changes), result: {} };
}

/** Muting has an event for its older name too. */
function eventsOf(userId: number, changes: readonly PropertyChange[]): EventEntry[] {
  return changes.flatMap(({ channelId, property, name, value }) => {
    const properties: [string, string | boolean][] = [[property, value]];
    if (name === 'isMuted') properties.unshift(['in_home_view', !value]);
    return properties.map(
      ([property, value]): EventEntry => ({
        kind: 'event',
        hearers: { users: [userId] },
        payload: { type: 'subscription', op: 'update', stream_id: channelId, property, value },
      }),
    );
  });
}
