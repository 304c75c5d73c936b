import { badRequest, refusal } from '../../kernel/errors.ts';
import type { Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import { type Commit, commitInParts, MAX_AT_ONCE } from '../../log/bulk.ts';
import { administersChannel, hasMetadataAccess } from '../../model/channel/access.ts';
import { type Channel, checkChannelName } from '../../model/channel/channel.ts';
import { holdsUnlessGuest, type Standing, standingOf } from '../../model/permission/permission.ts';
import { hiddenUsers } from '../../model/subscription/user-access.ts';
import { type Caller, directGroups } from '../../model/user/caller.ts';
import { accessPrincipals, type Principals, principalIds } from '../../model/user/principals.ts';
import type { User } from '../../model/user/user.ts';
import { checkPairs } from './check.ts';
import { doLeave, type Leaver, type Leaving } from './leave.ts';
import { loadSnapshot, type Named, type NamedChannel, type Pair, pairOf, type Snapshot } from './snapshot.ts';

/** Parses the parameters. Throws `BAD_REQUEST` for invalid names and too many subscriptions. */
export function parseRemovals({
  subscriptions,
  principals,
}: {
  readonly subscriptions: readonly string[];
  readonly principals?: Principals | undefined;
}): Named {
  const byFolded = new Map(subscriptions.map(checkChannelName).map((name) => [folded(name), name]));
  checkPairs(byFolded.size, principals?.length ?? 1);
  return { names: [...byFolded.values()], principals, done: new Map() };
}

/** How many people one transaction removes from a channel. */
const MAX_PEOPLE = 32;

/** Most log numbers that one transaction usually needs. */
const MAX_NUMBERS = 26;

/**
 * Log numbers for each of the first transactions: the events for the subscribers and for people who lose access, and one
 * for each channel. Many people who leave one channel take several transactions.
 */
export function numbersOfRemovals({ names, principals }: Named): number[] {
  const steps = names.length > 1 ? 1 : Math.ceil((principals?.length ?? 1) / MAX_PEOPLE);
  const numbers = Math.min(names.length + 2, MAX_NUMBERS);
  return Array<number>(Math.max(1, Math.min(steps, MAX_AT_ONCE))).fill(numbers);
}

interface UnsubscribeSnapshot extends Snapshot {
  /** User id -> named groups that they are a direct member of, which decide who loses access. */
  readonly groups: ReadonlyMap<number, readonly number[]>;
}

/** Reads the snapshot in one round trip. */
export async function loadRemovals(
  outside: Outside,
  resolved: Resolved,
  userId: number,
  input: Named,
): Promise<UnsubscribeSnapshot> {
  const others = principalIds(input.principals, resolved, userId).filter((id) => id !== userId);
  const [snapshot, groups] = await Promise.all([
    loadSnapshot(outside.table, resolved, userId, input),
    Promise.all(others.map(async (id) => [id, await directGroups(outside, resolved.realm, id)] as const)),
  ]);
  return { ...snapshot, groups: new Map(groups) };
}

/** The outcome of a request to unsubscribe people: names of channels, each once in each list. */
interface Unsubscribed {
  readonly removed: readonly string[];
  readonly notRemoved: readonly string[];
}

/** Unsubscribes people from channels. Like `subscribePeople`, a large request takes several transactions. */
export async function unsubscribePeople(
  outside: Outside,
  caller: Caller,
  commit: Commit,
  input: Named,
  snapshot: UnsubscribeSnapshot,
): Promise<Unsubscribed> {
  const { done } = input;
  // Hidden users do not exist for the caller. Reads only for guests.
  const hidden = await hiddenUsers(outside, caller, [...snapshot.users.values()]);
  const users = new Map([...snapshot.users].filter(([id]) => !hidden.has(id)));
  const { leavings, notSubscribed } = checkUnsubscribe(caller, input, { ...snapshot, users }, outside.now());
  await commitInParts(
    commit,
    leavings,
    (some, number) => doLeave(caller.realmId, some, number),
    (some) => {
      for (const { channel, people } of some) {
        for (const { userId } of people) done.set(pairOf(userId, channel.channelId), { userId, channel });
      }
    },
  );
  const others = notSubscribed.filter(({ userId, channel }) => !done.has(pairOf(userId, channel.channelId)));
  return { removed: namesIn([...done.values()]), notRemoved: namesIn(others) };
}

const namesIn = (pairs: readonly Pair[]): string[] => [
  ...new Map(pairs.map(({ channel }) => [channel.channelId, channel.name])).values(),
];

interface Decision {
  readonly leavings: readonly Leaving[];
  readonly notSubscribed: readonly Pair[];
}

/**
 * Checks a request to unsubscribe people (wire facts 4.1, specification 4.2). Everyone may leave, and remove their own
 * bots; removing others takes a permission of the channel. A channel that the caller cannot see is refused as one that
 * does not exist, unless an earlier try of this request made them leave it.
 */
export function checkUnsubscribe(
  caller: Caller,
  { names, principals, done }: Named,
  snapshot: UnsubscribeSnapshot,
  now: number,
): Decision {
  const { standing } = caller;
  const people = accessPrincipals(principals, snapshot.resolved, snapshot.users, caller.user);
  const left = new Set([...done.values()].map(({ channel }) => channel.channelId));
  const isVisible = (named: NamedChannel): boolean =>
    hasMetadataAccess(standing, named) || left.has(named.channel.channelId);
  const visible = names.map((name) => {
    const named = snapshot.channels.get(folded(name));
    return { name, named: named && isVisible(named) ? named : undefined };
  });
  const missing = visible.filter(({ named }) => named === undefined).map(({ name }) => `'${name}'`);
  if (missing.length > 0) throw badRequest(`These channels do not exist: ${missing.join(', ')}.`);
  const channels = visible.flatMap(({ named }) => named?.channel ?? []);
  const others = people.filter((person) => !isOwn(caller, person));
  if (others.length > 0 && channels.some((channel) => !mayRemoveSubscribers(standing, channel))) {
    throw refusal('insufficientPermission');
  }
  const leavings = channels.map((channel) => leavingOf(caller, people, snapshot, channel, now));
  const notSubscribed = channels.flatMap((channel) =>
    people
      .filter(({ userId }) => !snapshot.subscriptions.has(pairOf(userId, channel.channelId)))
      .map(({ userId }) => ({ userId, channel })),
  );
  return { leavings: leavings.filter((leaving) => leaving.people.length > 0), notSubscribed };
}

/** Whether the person is the caller or one of their bots. */
const isOwn = ({ user }: Caller, person: User): boolean =>
  person.userId === user.userId || (person.isBot && person.ownerId === user.userId);

/** Whether someone who can see the channel may remove its subscribers. They need not be subscribed. */
const mayRemoveSubscribers = (who: Standing, channel: Channel): boolean =>
  administersChannel(who, channel) || holdsUnlessGuest(who, channel.groups.can_remove_subscribers_group);

function leavingOf(
  caller: Caller,
  people: readonly User[],
  snapshot: UnsubscribeSnapshot,
  channel: Channel,
  now: number,
): Leaving {
  const leavers = people.flatMap((person): Leaver[] => {
    const subscription = snapshot.subscriptions.get(pairOf(person.userId, channel.channelId));
    if (subscription === undefined) return [];
    const standing =
      person.userId === caller.user.userId ? caller.standing : standingIn(caller, snapshot, person, now);
    const losesAccess = !hasMetadataAccess(standing, { channel, subscription: undefined });
    return [{ userId: person.userId, subscription, losesAccess }];
  });
  const dependsOnSettings = people.some(
    (person) => !isOwn(caller, person) && leavers.some(({ userId }) => userId === person.userId),
  );
  return { channel, people: leavers, dependsOnSettings };
}

const standingIn = (
  { realm, graph }: Caller,
  { groups }: UnsubscribeSnapshot,
  person: User,
  now: number,
): Standing =>
  standingOf(person, groups.get(person.userId) ?? [], graph, realm.settings.waiting_period_threshold, now);
