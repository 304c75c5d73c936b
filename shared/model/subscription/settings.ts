import { badRequest } from '../../kernel/errors.ts';
import { isId } from '../../kernel/id.ts';
import type { Change } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import type { Subscription, SubscriptionSettings } from '../channel/channel.ts';

/** The colours that new subscriptions take in turn. */
const COLORS = ['#76ce90', '#fae589', '#a6c7e5', '#e79ab5', '#bfd56f', '#f4ae55', '#b0a5fd', '#addfe5'];

/** What is set for someone who subscribes to a channel for the first time. */
export const newSubscriptionSettings = (channelId: number): SubscriptionSettings => ({
  color: COLORS[channelId % COLORS.length] ?? '#c2c2c2',
  isMuted: false,
  pinToTop: false,
});

/** What somebody chose for a channel, out of the stored item. */
export const settingsOf = (stored: SubscriptionSettings): SubscriptionSettings => ({
  color: stored.color,
  isMuted: stored.isMuted,
  pinToTop: stored.pinToTop,
  ...(stored.desktopNotifications !== undefined && { desktopNotifications: stored.desktopNotifications }),
  ...(stored.audibleNotifications !== undefined && { audibleNotifications: stored.audibleNotifications }),
  ...(stored.pushNotifications !== undefined && { pushNotifications: stored.pushNotifications }),
  ...(stored.emailNotifications !== undefined && { emailNotifications: stored.emailNotifications }),
  ...(stored.wildcardMentionsNotify !== undefined && {
    wildcardMentionsNotify: stored.wildcardMentionsNotify,
  }),
});

/** The subscription and its inverse, guarded so that two requests at once make one. The count is another write. */
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

/** Lets the channel have so many subscribers more (or fewer): one write, however many they are. */
export const countSubscribers = (realm: string, channelId: number, more: number): Write => ({
  update: key('channelCount', { realm, channelId }),
  change: { add: { subscribers: more } },
});

const COLOR = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i;

/** Decides whether text is a color as clients write one. */
export function checkColor(color: string): string {
  if (!COLOR.test(color)) throw badRequest('A color is written as # and three or six hexadecimal digits.');
  return color;
}

/** One thing that somebody chooses for a channel that they are subscribed to, as a request has it. */
export interface GivenProperty {
  readonly stream_id: number;
  readonly property: string;
  readonly value: unknown;
}

/** What they choose, decided on. */
interface Choice {
  readonly channelId: number;
  readonly name: keyof SubscriptionSettings;
  readonly value: string | boolean;
}

/** The properties on the wire that are either set or not, and what they are called here. */
const switches: ReadonlyMap<string, keyof SubscriptionSettings> = new Map([
  ['is_muted', 'isMuted'],
  ['pin_to_top', 'pinToTop'],
  ['desktop_notifications', 'desktopNotifications'],
  ['audible_notifications', 'audibleNotifications'],
  ['push_notifications', 'pushNotifications'],
  ['email_notifications', 'emailNotifications'],
  ['wildcard_mentions_notify', 'wildcardMentionsNotify'],
]);

const wireNames: ReadonlyMap<keyof SubscriptionSettings, string> = new Map([
  ['color', 'color'],
  ...[...switches].map(([wire, name]) => [name, wire] as const),
]);

/** Most channels that one request may be about: each is a write of its one transaction. */
const MAX_CHANNELS = 90;

/** Decides on the properties and their values. `in_home_view` is the older word for not being muted. */
export function checkProperties(given: readonly GivenProperty[]): Choice[] {
  if (new Set(given.map(({ stream_id }) => stream_id)).size > MAX_CHANNELS) {
    throw badRequest(`At most ${MAX_CHANNELS} channels can be changed in one request.`);
  }
  return given.map(({ stream_id: channelId, property, value }) => {
    if (property === 'color') {
      if (typeof value !== 'string') throw badRequest("The value of 'color' is not a string.");
      return { channelId, name: 'color', value: checkColor(value) };
    }
    const name = property === 'in_home_view' ? 'isMuted' : switches.get(property);
    if (name === undefined) throw badRequest('There is no such property of a subscription.');
    if (typeof value !== 'boolean') throw badRequest(`The value of '${property}' is not a boolean.`);
    return { channelId, name, value: property === 'in_home_view' ? !value : value };
  });
}

/** The subscriptions that are to change, by channel. One round trip. */
export async function loadChosen(
  table: Table,
  realm: string,
  userId: number,
  given: readonly GivenProperty[],
): Promise<ReadonlyMap<number, Subscription>> {
  const ids = [...new Set(given.map(({ stream_id }) => stream_id).filter(isId))];
  const found = await table.getMany(
    ids.slice(0, MAX_CHANNELS).map((channelId) => key('subscription', { realm, userId, channelId })),
  );
  return new Map(found.map((subscription) => [subscription.channelId, subscription]));
}

/** The choices that make something different; of several about one thing the last counts. Refuses what is not there. */
export function checkChoices(
  choices: readonly Choice[],
  subscriptions: ReadonlyMap<number, Subscription>,
): Choice[] {
  const last = new Map(choices.map((choice) => [`${choice.channelId} ${choice.name}`, choice]));
  for (const { channelId } of choices) {
    if (!subscriptions.has(channelId)) {
      throw badRequest(`You are not subscribed to the channel with the ID ${channelId}.`);
    }
  }
  return [...last.values()].filter(
    ({ channelId, name, value }) => subscriptions.get(channelId)?.[name] !== value,
  );
}

/** How many numbers of the log these choices take. */
export const entriesOfChoices = (choices: readonly Choice[]): number => eventsOf(0, choices).length;

/** Writes the choices and tells the other clients of the same person. */
export function doChoose(
  realm: string,
  userId: number,
  choices: readonly Choice[],
): Change<Record<string, never>> {
  const byChannel = new Map<number, Record<string, string | boolean>>();
  for (const { channelId, name, value } of choices) {
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
  return { writes, entries: eventsOf(userId, choices), result: {} };
}

/** Muting is told under its older name too. */
function eventsOf(userId: number, choices: readonly Choice[]): EventEntry[] {
  return choices.flatMap(({ channelId, name, value }) => {
    const told: [string, string | boolean][] = [[wireNames.get(name) ?? name, value]];
    if (name === 'isMuted') told.unshift(['in_home_view', !value]);
    return told.map(
      ([property, value]): EventEntry => ({
        kind: 'event',
        hearers: { users: [userId] },
        payload: { type: 'subscription', op: 'update', stream_id: channelId, property, value },
      }),
    );
  });
}
