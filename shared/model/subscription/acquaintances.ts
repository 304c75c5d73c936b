import type { Outside } from '../../kernel/outside.ts';
import type { Table } from '../../table/table.ts';
import type { Subscription } from '../channel/channel.ts';
import type { DirectMembership } from '../message/direct.ts';
import type { Caller } from '../user/caller.ts';
import { loadCurrent, loadSubscriberIds } from './object.ts';
import { seesEveryone } from './user-access.ts';

/** Where somebody meets others: the channels that they are subscribed to, and their direct conversations. */
export interface MeetingPlaces {
  readonly subscriptions: readonly Pick<Subscription, 'channelId'>[];
  readonly dialogues: readonly Pick<DirectMembership, 'people'>[];
}

/** Reads where somebody meets others. One round trip. */
export async function loadMeetingPlaces(table: Table, realm: string, userId: number): Promise<MeetingPlaces> {
  const [subscriptions, dialogues] = await Promise.all([
    loadCurrent(table, realm, userId),
    table.all('dialogue', { realm, userId }),
  ]);
  return { subscriptions, dialogues };
}

/**
 * The people whom somebody knows who does not see everyone: themselves, the subscribers of their channels, and the
 * people of their direct conversations. `subscribersOf` reads who is subscribed to a channel.
 */
export async function acquaintancesAt(
  { subscriptions, dialogues }: MeetingPlaces,
  userId: number,
  subscribersOf: (channelId: number) => Promise<readonly number[]>,
): Promise<ReadonlySet<number>> {
  const subscribers = await Promise.all(subscriptions.map(({ channelId }) => subscribersOf(channelId)));
  return new Set([userId, ...subscribers.flat(), ...dialogues.flatMap(({ people }) => people)]);
}

/** The same where nothing is read yet. Two round trips; the cost is that of a list of these people. */
export const loadAcquaintances = async (
  table: Table,
  realm: string,
  userId: number,
): Promise<ReadonlySet<number>> =>
  acquaintancesAt(await loadMeetingPlaces(table, realm, userId), userId, (channelId) =>
    loadSubscriberIds(table, realm, channelId),
  );

/** Without what is of people of whom the caller may not know. Only for guests who do not see everyone this reads. */
export async function ofKnown<T extends { readonly userId: number }>(
  outside: Outside,
  caller: Caller,
  things: readonly T[],
): Promise<readonly T[]> {
  if (things.length === 0 || seesEveryone(caller)) return things;
  const known = await loadAcquaintances(outside.table, caller.realmId, caller.user.userId);
  return things.filter(({ userId }) => known.has(userId));
}
