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
  knownChannelIds,
  loadChannelIds,
  loadSnapshot,
  type NamedChannel,
  type Pair,
  pairOf,
  type Snapshot,
} from './snapshot.ts';

/** Subscriptions that somebody asks to end: the channels, each named once, and the people. */
export interface AskedRemovals {
  readonly names: readonly string[];
  readonly principals: Principals | undefined;
}

/** Interprets the parameters. Throws `BAD_REQUEST` for what cannot be a name, and for too many subscriptions at once. */
export function parseRemovals({
  subscriptions,
  principals,
}: {
  readonly subscriptions: readonly string[];
  readonly principals?: Principals | undefined;
}): AskedRemovals {
  const byFolded = new Map(subscriptions.map(checkChannelName).map((name) => [folded(name), name]));
  checkPairs(byFolded.size, principals?.length ?? 1);
  return { names: [...byFolded.values()], principals };
}

/** The channels and the people. */
export const removalLookupKeys = ({ names, principals }: AskedRemovals): LookupKey[] => [
  ...names.map((name): LookupKey<'channelName'> => ({ kind: 'channelName', name })),
  ...principalLookupKeys(principals),
];

/** How many people one transaction takes out of a channel. */
const PEOPLE_IN_ONE = 32;

/** More numbers than one transaction of this kind usually has events. */
const MAX_NUMBERS = 26;

/**
 * What the subscriber hears, what their clients forget, and for each channel the news for the others; for each of the
 * first transactions, where people leave one channel.
 */
export function numbersOfRemovals({ names, principals }: AskedRemovals): number[] {
  const steps = names.length > 1 ? 1 : Math.ceil((principals?.length ?? 1) / PEOPLE_IN_ONE);
  const numbers = Math.min(names.length + 2, MAX_NUMBERS);
  return Array<number>(Math.max(1, Math.min(steps, MAX_AT_ONCE))).fill(numbers);
}

/** What a request to end subscriptions reads. */
export interface RemovalsSnapshot {
  readonly snapshot: Snapshot;
  /** Person -> named groups, which tell who loses sight of a channel. */
  readonly groups: ReadonlyMap<number, readonly number[]>;
}

/** Reads it, in one round trip. */
export async function loadRemovals(
  outside: Outside,
  resolved: Resolved,
  userId: number,
  { names, principals }: AskedRemovals,
): Promise<RemovalsSnapshot> {
  const { realm } = resolved;
  const people = principalIds(principals, resolved, userId);
  const others = people.filter((id) => id !== userId);
  const [snapshot, groups] = await Promise.all([
    loadSnapshot(outside.table, realm, userId, knownChannelIds(names, resolved), people),
    Promise.all(others.map((id) => directGroups(outside, realm, id))),
  ]);
  return { snapshot, groups: new Map(others.map((id, i) => [id, groups[i] ?? []])) };
}

/** Reads the snapshot anew: somebody else changed it. Two round trips. */
export async function reloadRemovals(
  { table }: Outside,
  resolved: Resolved,
  userId: number,
  { names, principals }: AskedRemovals,
): Promise<Snapshot> {
  const { realm } = resolved;
  const ids = await loadChannelIds(table, realm, names);
  return loadSnapshot(table, realm, userId, ids, principalIds(principals, resolved, userId));
}

/** A request to unsubscribe people, parsed. */
export interface UnsubscribeRequest {
  readonly names: readonly string[];
  readonly principals: Principals | undefined;
  /** Where addresses lead. */
  readonly resolved: Resolved;
  /** Person -> the named groups they are a direct member of. */
  readonly groups: ReadonlyMap<number, readonly number[]>;
  /** Milliseconds. */
  readonly now: number;
}

/** The outcome of a request to unsubscribe people: names of channels, each once in each list. */
export interface Unsubscribed {
  readonly removed: readonly string[];
  readonly notRemoved: readonly string[];
}

/**
 * Ends subscriptions of people to channels. Everything is checked before anything is changed; a request too large
 * for one transaction is several, each whole by itself, as with `subscribePeople`.
 */
export async function unsubscribePeople(
  stage: Stage<Snapshot>,
  caller: Caller,
  commit: Commit,
  request: UnsubscribeRequest,
  loaded: Snapshot,
): Promise<Unsubscribed> {
  const done = new Map<string, Pair>();
  const work = leavingWork(caller.realmId, commit, done);
  const { untouched } = await inBulk(stage, loaded, work, (snapshot) => {
    const decision = checkUnsubscribe(caller, request, snapshot, [...done.values()]);
    return { jobs: decision.leavings, decision };
  });
  const others = untouched.filter(({ userId, channel }) => !done.has(pairOf(userId, channel.channelId)));
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
  /** Those who are not subscribed anyway. */
  readonly untouched: readonly Pair[];
}

/**
 * Decides who leaves what (wire facts 4.1, specification 4.2). Everybody may leave, and let their own bots leave;
 * to remove others takes a permission of the channel. A channel that the caller may not know of is told of as one
 * that does not exist, unless this very request made them leave it.
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
  const untouched = channels.flatMap((channel) =>
    people
      .filter(({ userId }) => !snapshot.subscriptions.has(pairOf(userId, channel.channelId)))
      .map(({ userId }) => ({ userId, channel })),
  );
  return { leavings: leavings.filter(({ leavers }) => leavers.length > 0), untouched };
}

/** Whether someone is the caller, or a bot of theirs. */
const isOwn = ({ user }: Caller, person: User): boolean =>
  person.userId === user.userId || (person.isBot && person.ownerId === user.userId);

/** Whether someone who knows of the channel may remove its subscribers. Administrators need not be in it. */
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
    const losesSight = !hasMetadataAccess(standing, { channel, subscription: undefined });
    return [{ userId: person.userId, subscription, losesSight }];
  });
  const restsOnSettings = people.some(
    (person) => !isOwn(caller, person) && leavers.some(({ userId }) => userId === person.userId),
  );
  return { channel, leavers, restsOnSettings };
}

const standingIn = ({ realm, graph }: Caller, { groups, now }: UnsubscribeRequest, person: User): Standing =>
  standingOf(person, groups.get(person.userId) ?? [], graph, realm.settings.waiting_period_threshold, now);
