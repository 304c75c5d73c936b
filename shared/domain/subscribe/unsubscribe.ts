import { badRequest, refusal } from '../../kernel/errors.ts';
import { folded } from '../../kernel/folding.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import {
  type Commit,
  cutOf,
  inBulk,
  isOneTransaction,
  MAX_AT_ONCE,
  type Stage,
  type Work,
} from '../../log/bulk.ts';
import { administersChannel, hasMetadataAccess } from '../../model/channel/access.ts';
import { type Channel, checkChannelName } from '../../model/channel/channel.ts';
import { holdsUnlessGuest, type Standing, standingOf } from '../../model/permission/permission.ts';
import { type Caller, directGroups } from '../../model/user/caller.ts';
import {
  accessPrincipals,
  type Principals,
  principalIds,
  principalLookupKeys,
} from '../../model/user/principals.ts';
import type { User } from '../../model/user/user.ts';
import { checkPairs } from './check.ts';
import { doLeave, entriesOfLeave, type Leaver, type Leaving } from './leave.ts';
import {
  loadChannelIds,
  loadSnapshot,
  type NamedChannel,
  type Pair,
  pairOf,
  resolvedChannelIds,
  type Snapshot,
} from './snapshot.ts';

/** A parsed request to unsubscribe people; each channel is named once. */
interface UnsubscribeInput {
  readonly names: readonly string[];
  readonly principals: Principals | undefined;
}

/** Parses the parameters. Throws `BAD_REQUEST` for invalid names and too many subscriptions. */
export function parseRemovals({
  subscriptions,
  principals,
}: {
  readonly subscriptions: readonly string[];
  readonly principals?: Principals | undefined;
}): UnsubscribeInput {
  const byFolded = new Map(subscriptions.map(checkChannelName).map((name) => [folded(name), name]));
  checkPairs(byFolded.size, principals?.length ?? 1);
  return { names: [...byFolded.values()], principals };
}

/** The channels and the people. */
export const removalLookupKeys = ({ names, principals }: UnsubscribeInput): LookupKey[] => [
  ...names.map((name): LookupKey<'channelName'> => ({ kind: 'channelName', name })),
  ...principalLookupKeys(principals),
];

/** How many people one transaction removes from a channel. */
const MAX_PEOPLE = 32;

/** Most log numbers that one transaction usually needs. */
const MAX_NUMBERS = 26;

/**
 * Log numbers for each of the first transactions: the events for the subscribers and for people who lose access, and one
 * for each channel. Many people who leave one channel take several transactions.
 */
export function numbersOfRemovals({ names, principals }: UnsubscribeInput): number[] {
  const steps = names.length > 1 ? 1 : Math.ceil((principals?.length ?? 1) / MAX_PEOPLE);
  const numbers = Math.min(names.length + 2, MAX_NUMBERS);
  return Array<number>(Math.max(1, Math.min(steps, MAX_AT_ONCE))).fill(numbers);
}

/** Reads the snapshot, and the named groups of each other person, which decide who loses access. One round trip. */
export async function loadRemovals(
  outside: Outside,
  resolved: Resolved,
  userId: number,
  { names, principals }: UnsubscribeInput,
): Promise<{ readonly snapshot: Snapshot; readonly groups: ReadonlyMap<number, readonly number[]> }> {
  const others = principalIds(principals, resolved, userId).filter((id) => id !== userId);
  const [snapshot, groups] = await Promise.all([
    loadSnapshot(outside.table, resolved, userId, resolvedChannelIds(names, resolved), principals),
    Promise.all(others.map((id) => directGroups(outside, resolved.realm, id))),
  ]);
  return { snapshot, groups: new Map(others.map((id, i) => [id, groups[i] ?? []])) };
}

/** Reads the snapshot again after a conflict. Two round trips. */
export async function reloadRemovals(
  { table }: Outside,
  resolved: Resolved,
  userId: number,
  { names, principals }: UnsubscribeInput,
): Promise<Snapshot> {
  const ids = await loadChannelIds(table, resolved.realm, names);
  return loadSnapshot(table, resolved, userId, ids, principals);
}

/** The request with what its container knows. */
interface UnsubscribeRequest extends UnsubscribeInput {
  readonly resolved: Resolved;
  /** User id -> named groups that they are a direct member of. */
  readonly groups: ReadonlyMap<number, readonly number[]>;
  /** Milliseconds. */
  readonly now: number;
}

/** The outcome of a request to unsubscribe people: names of channels, each once in each list. */
interface Unsubscribed {
  readonly removed: readonly string[];
  readonly notRemoved: readonly string[];
}

/** Unsubscribes people from channels. Like `subscribePeople`, a large request takes several transactions. */
export async function unsubscribePeople(
  stage: Stage<Snapshot>,
  caller: Caller,
  commit: Commit,
  request: UnsubscribeRequest,
  loaded: Snapshot,
): Promise<Unsubscribed> {
  const done = new Map<string, Pair>();
  const work = leavingWork(caller.realmId, commit, done);
  const { notSubscribed } = await inBulk(stage, loaded, work, (snapshot) => {
    const decision = checkUnsubscribe(caller, request, snapshot, [...done.values()]);
    return { jobs: decision.leavings, decision };
  });
  const others = notSubscribed.filter(({ userId, channel }) => !done.has(pairOf(userId, channel.channelId)));
  return { removed: namesIn([...done.values()]), notRemoved: namesIn(others) };
}

const namesIn = (pairs: readonly Pair[]): string[] => [
  ...new Map(pairs.map(({ channel }) => [channel.channelId, channel.name])).values(),
];

function leavingWork(realm: string, commit: Commit, done: Map<string, Pair>): Work<Leaving> {
  const fits = (leavings: readonly Leaving[]): boolean => isOneTransaction(doLeave(realm, leavings, () => 0));
  return {
    fits,
    cut: (leaving) => cutOf(leaving.leavers, (leavers) => ({ ...leaving, leavers }), fits),
    run: async (leavings) => {
      await commit(entriesOfLeave(leavings), (numbers) =>
        doLeave(realm, leavings, (i) => numbers[i] as number),
      );
      for (const { channel, leavers } of leavings) {
        for (const { userId } of leavers) done.set(pairOf(userId, channel.channelId), { userId, channel });
      }
    },
  };
}

interface Decision {
  readonly leavings: readonly Leaving[];
  readonly notSubscribed: readonly Pair[];
}

/**
 * Checks a request to unsubscribe people (wire facts 4.1, specification 4.2). Everyone may leave, and remove their own
 * bots; removing others takes a permission of the channel. A channel that the caller cannot see is refused as one that
 * does not exist, unless an earlier transaction of this request made them leave it.
 */
function checkUnsubscribe(
  caller: Caller,
  request: UnsubscribeRequest,
  snapshot: Snapshot,
  done: readonly Pair[],
): Decision {
  const { standing } = caller;
  const people = accessPrincipals(request.principals, request.resolved, snapshot.users, caller.user);
  const left = new Set(done.map(({ channel }) => channel.channelId));
  const isVisible = (named: NamedChannel): boolean =>
    hasMetadataAccess(standing, named) || left.has(named.channel.channelId);
  const visible = request.names.map((name) => {
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
  const leavings = channels.map((channel) => leavingOf(caller, request, people, snapshot, channel));
  const notSubscribed = channels.flatMap((channel) =>
    people
      .filter(({ userId }) => !snapshot.subscriptions.has(pairOf(userId, channel.channelId)))
      .map(({ userId }) => ({ userId, channel })),
  );
  return { leavings: leavings.filter(({ leavers }) => leavers.length > 0), notSubscribed };
}

/** Whether the person is the caller or one of their bots. */
const isOwn = ({ user }: Caller, person: User): boolean =>
  person.userId === user.userId || (person.isBot && person.ownerId === user.userId);

/** Whether someone who can see the channel may remove its subscribers. They need not be subscribed. */
const mayRemoveSubscribers = (who: Standing, channel: Channel): boolean =>
  administersChannel(who, channel) || holdsUnlessGuest(who, channel.groups.can_remove_subscribers_group);

function leavingOf(
  caller: Caller,
  request: UnsubscribeRequest,
  people: readonly User[],
  snapshot: Snapshot,
  channel: Channel,
): Leaving {
  const leavers = people.flatMap((person): Leaver[] => {
    const subscription = snapshot.subscriptions.get(pairOf(person.userId, channel.channelId));
    if (subscription === undefined) return [];
    const standing =
      person.userId === caller.user.userId ? caller.standing : standingIn(caller, request, person);
    const losesAccess = !hasMetadataAccess(standing, { channel, subscription: undefined });
    return [{ userId: person.userId, subscription, losesAccess }];
  });
  const dependsOnSettings = people.some(
    (person) => !isOwn(caller, person) && leavers.some(({ userId }) => userId === person.userId),
  );
  return { channel, leavers, dependsOnSettings };
}

const standingIn = ({ realm, graph }: Caller, { groups, now }: UnsubscribeRequest, person: User): Standing =>
  standingOf(person, groups.get(person.userId) ?? [], graph, realm.settings.waiting_period_threshold, now);
