import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { Table } from '../../table/table.ts';
import type { Subscription } from '../channel/channel.ts';
import type { DirectMembership } from '../message/direct.ts';
import { holds, isGuest, roles } from '../permission/permission.ts';
import type { Caller } from '../user/caller.ts';
import { noSuchUser } from '../user/principals.ts';
import type { User } from '../user/user.ts';
import { loadCurrent, loadSubscriberIds } from './object.ts';

/** Whether the caller can see everyone in the organization; guests may be restricted (wire facts 3.8). */
export const canAccessAllUsers = ({ standing, realm }: Pick<Caller, 'standing' | 'realm'>): boolean =>
  !isGuest(standing) || holds(standing, realm.settings.can_access_all_users_group);

/** The name and address of a hidden user. */
export const anonymized = (userId: number): Pick<User, 'fullName' | 'email'> => ({
  fullName: 'Unknown user',
  email: `user${userId}@hidden.invalid`,
});

/** How a hidden user appears to callers who may not see them: an id, and no personal data. */
export const anonymizedUser = ({ userId, isBot }: Pick<User, 'userId' | 'isBot'>): User => ({
  userId,
  ...anonymized(userId),
  role: roles.member,
  isActive: true,
  isBot,
  dateJoined: new Date(0).toISOString(),
  avatarVersion: 1,
  timezone: '',
});

/**
 * Which of these users are hidden from the caller. Restricted guests see bots, and users they share a channel or a direct
 * conversation with. Reads only for them, in one round trip.
 */
export async function hiddenUsers(
  outside: Outside,
  caller: Caller,
  users: readonly User[],
): Promise<ReadonlySet<number>> {
  const others = users.filter(({ isBot }) => !isBot);
  const isHidden = await loadHidden(
    outside,
    caller,
    others.map(({ userId }) => userId),
  );
  return new Set(others.filter(isHidden).map(({ userId }) => userId));
}

export type IsHidden = (user: Pick<User, 'userId' | 'isBot'>) => boolean;

/** The same for ids whose users are not loaded yet. */
export async function loadHidden(
  outside: Outside,
  caller: Caller,
  userIds: readonly number[],
): Promise<IsHidden> {
  const { realmId: realm, user } = caller;
  const others = [...new Set(userIds)].filter((userId) => userId !== user.userId);
  if (canAccessAllUsers(caller) || others.length === 0) return () => false;
  const [own, dialogues, ...theirs] = await Promise.all([
    subscribedChannels(outside, realm, user.userId),
    outside.table.all('dialogue', { realm, userId: user.userId }),
    ...others.map((userId) => subscribedChannels(outside, realm, userId)),
  ]);
  const met = new Set(dialogues.flatMap(({ people }) => people));
  const shares = (i: number): boolean => (theirs[i] ?? []).some((channelId) => own.includes(channelId));
  const hidden = new Set(others.filter((userId, i) => !met.has(userId) && !shares(i)));
  return ({ userId, isBot }) => !isBot && hidden.has(userId);
}

/** The user, if there is one whom the caller may see. A hidden user is refused as one who does not exist. */
export async function accessUser(outside: Outside, caller: Caller, user: User | undefined): Promise<User> {
  if (user === undefined || (await hiddenUsers(outside, caller, [user])).size > 0) throw noSuchUser();
  return user;
}

/** Refuses unless `found` has all users with these ids, and the caller may see each of them. */
export async function accessRecipients(
  outside: Outside,
  caller: Caller,
  userIds: readonly number[],
  found: readonly User[],
): Promise<void> {
  const hidden = await hiddenUsers(outside, caller, found);
  if (found.length < new Set(userIds).size || hidden.size > 0) throw badRequest('Invalid user ID.');
}

async function subscribedChannels(outside: Outside, realm: string, userId: number): Promise<number[]> {
  const subscriptions = await outside.table.all('subscription', { realm, userId });
  return subscriptions.flatMap(({ channelId, dormant }) => (dormant ? [] : [channelId]));
}

/** Someone's subscriptions and direct conversations, in which they meet others. */
export interface SharedSpaces {
  readonly subscriptions: readonly Pick<Subscription, 'channelId'>[];
  readonly dialogues: readonly Pick<DirectMembership, 'people'>[];
}

/** Reads them in one round trip. */
export async function loadSharedSpaces(table: Table, realm: string, userId: number): Promise<SharedSpaces> {
  const [subscriptions, dialogues] = await Promise.all([
    loadCurrent(table, realm, userId),
    table.all('dialogue', { realm, userId }),
  ]);
  return { subscriptions, dialogues };
}

/** The users that someone can see who does not see everyone: themselves, and those they share a channel or a direct conversation with. */
export async function accessibleUserIds(
  { subscriptions, dialogues }: SharedSpaces,
  userId: number,
  subscribersOf: (channelId: number) => Promise<readonly number[]>,
): Promise<ReadonlySet<number>> {
  const subscribers = await Promise.all(subscriptions.map(({ channelId }) => subscribersOf(channelId)));
  return new Set([userId, ...subscribers.flat(), ...dialogues.flatMap(({ people }) => people)]);
}

/** The same, with all reads. Two round trips; the cost is that of a list of these people. */
export const loadAccessibleUserIds = async (
  table: Table,
  realm: string,
  userId: number,
): Promise<ReadonlySet<number>> =>
  accessibleUserIds(await loadSharedSpaces(table, realm, userId), userId, (channelId) =>
    loadSubscriberIds(table, realm, channelId),
  );

/** Drops entries owned by users the caller may not see. Reads only for restricted guests. */
export async function dropHiddenUsers<T extends { readonly userId: number }>(
  outside: Outside,
  caller: Caller,
  things: readonly T[],
): Promise<readonly T[]> {
  if (things.length === 0 || canAccessAllUsers(caller)) return things;
  const known = await loadAccessibleUserIds(outside.table, caller.realmId, caller.user.userId);
  return things.filter(({ userId }) => known.has(userId));
}
