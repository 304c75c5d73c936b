import { expect } from 'vitest';
import { handler as list } from '../../functions/subscriptions/list.ts';
import { folded } from '../../shared/kernel/text.ts';
import type { EventEntry, ReadEntry } from '../../shared/log/slot.ts';
import type { FormerSubscription, Subscription } from '../../shared/model/channel/channel.ts';
import { entriesIn } from './log-entries.ts';
import type { Person, Reply, TestRealm } from './realm.ts';

/** The ids of a channel's subscribers as its partition lists them. */
export async function subscribersOf({ realm, outside }: TestRealm, channelId: number): Promise<number[]> {
  const items = await outside.table.all('subscriber', { realm, channelId });
  return items.map(({ userId }) => userId);
}

export const subscriptionOf = (
  { realm, outside }: TestRealm,
  { userId }: Person,
  channelId: number,
): Promise<Subscription | undefined> => outside.table.get('subscription', { realm, userId, channelId });

export const formerOf = (
  { realm, outside }: TestRealm,
  { userId }: Person,
  channelId: number,
): Promise<FormerSubscription | undefined> => outside.table.get('former', { realm, userId, channelId });

/** The id of the channel with this name, hidden or not; undefined if there is none. */
export async function channelIdOf({ realm, outside }: TestRealm, name: string): Promise<number | undefined> {
  const item = await outside.table.get('channelName', { realm, name: folded(name) });
  return item?.channelId;
}

/** Checks that a channel's count, its list of subscribers and the subscriptions themselves tell the same. */
export async function expectConsistent(
  realm: TestRealm,
  channelId: number,
  people: readonly Person[],
): Promise<readonly number[]> {
  const at = { realm: realm.realm, channelId };
  const [count, listed, subscriptions] = await Promise.all([
    realm.outside.table.get('channelCount', at),
    subscribersOf(realm, channelId),
    Promise.all(people.map((person) => subscriptionOf(realm, person, channelId))),
  ]);
  const subscribed = subscriptions
    .flatMap((subscription) => subscription?.userId ?? [])
    .sort((a, b) => a - b);
  expect(listed).toEqual(subscribed);
  expect(count?.subscribers).toBe(listed.length);
  return listed;
}

const isEvent = (entry: ReadEntry): entry is ReadEntry & EventEntry => entry.kind === 'event';

/** The events after this number of the log, with their audience. */
export async function told(
  realm: TestRealm,
  after: number,
): Promise<(Pick<EventEntry, 'hearers' | 'payload' | 'access'> & { readonly seq: number })[]> {
  const entries = await entriesIn(realm.log);
  return entries
    .filter(isEvent)
    .filter(({ seq }) => seq > after)
    .map(({ seq, hearers, payload, access }) => ({ seq, hearers, payload, ...(access && { access }) }));
}

/** The channel of this name among a user's subscriptions, as the listing shows it. */
export async function listed(realm: TestRealm, person: Person, name: string): Promise<Reply['body']> {
  const { body } = await realm.call(list, person);
  return body.subscriptions.find((each: { readonly name: string }) => each.name === name);
}
