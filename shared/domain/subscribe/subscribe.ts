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
import { MAX_WRITES } from '../../log/commit.ts';
import { extractReferences, type References } from '../../markdown/references.ts';
import type { Channel } from '../../model/channel/channel.ts';
import type { CountedChannel } from '../../model/subscription/object.ts';
import type { Caller } from '../../model/user/caller.ts';
import { type Principals, principalIds, principalLookupKeys } from '../../model/user/principals.ts';
import type { Write } from '../../table/write.ts';
import type { NewChannelSettings } from '../channel-edit/create.ts';
import { type LoadedReferences, loadReferences, referenceLookupKeys } from '../mention/references.ts';
import { checkPairs, checkSubscribe, checkWanted, type SubscribeRequest, type Wanted } from './check.ts';
import { doJoin, entriesOfJoin, type Joining } from './join.ts';
import { doLeaveTelling, mayTellPeople } from './notices.ts';
import {
  knownChannelIds,
  loadChannelIds,
  loadSubscribeSnapshot,
  type Pair,
  pairOf,
  type SubscribeSnapshot,
} from './snapshot.ts';

/** The parameters of a request to subscribe people (specification 4.2). */
interface SubscribeParameters extends NewChannelSettings {
  readonly subscriptions: Parameters<typeof checkWanted>[0];
  readonly principals?: Principals | undefined;
  readonly authorization_errors_fatal?: boolean | undefined;
  readonly announce?: boolean | undefined;
  readonly send_new_subscription_messages?: boolean | undefined;
}

/** Subscriptions that somebody asks for. */
export interface AskedSubscriptions {
  readonly wanted: readonly Wanted[];
  /** The names in the descriptions of channels that may have to be created. */
  readonly names: References;
  readonly principals: Principals | undefined;
  /** The settings of channels that are created. */
  readonly settings: NewChannelSettings;
  /** A channel that the caller may not join or create refuses the whole request; else it is only listed. */
  readonly refuseUnauthorized: boolean;
  /** Channels that are created are announced. */
  readonly announce: boolean;
  /** People are told that they were subscribed. */
  readonly tellPeople: boolean;
}

/** Interprets the parameters. Throws `BAD_REQUEST` for what cannot be a name, and for too many subscriptions at once. */
export function parseSubscriptions(given: SubscribeParameters): AskedSubscriptions {
  const { principals } = given;
  const wanted = checkWanted(given.subscriptions);
  checkPairs(wanted.length, principals?.length ?? 1);
  return {
    wanted,
    names: extractReferences(wanted.map(({ description }) => description).join('\n\n')),
    principals,
    settings: given,
    refuseUnauthorized: given.authorization_errors_fatal ?? true,
    announce: given.announce ?? false,
    tellPeople: given.send_new_subscription_messages ?? true,
  };
}

/** The channels, the people, and the names in descriptions. */
export const subscriptionLookupKeys = ({ wanted, principals, names }: AskedSubscriptions): LookupKey[] => [
  ...wanted.map(({ name }): LookupKey<'channelName'> => ({ kind: 'channelName', name })),
  ...principalLookupKeys(principals),
  ...referenceLookupKeys(names),
];

/** How many people one transaction subscribes to a channel. */
const PEOPLE_IN_ONE = 23;

/** More numbers than one transaction of this kind has events. */
const MAX_NUMBERS = 41;

/**
 * Numbers for each of the first transactions: one event for the subscribers, and for each channel its creation and the
 * news for the others. Some of them can be under way at once; more people than one of them takes follow one another.
 */
export function numbersOfSubscriptions({ wanted, principals }: AskedSubscriptions): number[] {
  const people = principals?.length ?? 1;
  const lanes = (channels: number): number[] => {
    const half = Math.ceil(channels / 2);
    if (channels > 1 && writesFor(channels, people) >= MAX_WRITES)
      return [...lanes(half), ...lanes(channels - half)];
    const steps = channels > 1 ? 1 : Math.ceil(people / PEOPLE_IN_ONE);
    return Array<number>(steps).fill(Math.min(2 * channels + 1, MAX_NUMBERS));
  };
  return lanes(Math.max(1, wanted.length)).slice(0, MAX_AT_ONCE);
}

/** About as many writes as it takes to subscribe people to channels. */
const writesFor = (channels: number, people: number): number => channels * (3 * people + 2) + people + 2;

const channelNames = ({ wanted }: AskedSubscriptions): string[] => wanted.map(({ name }) => name);

/** Reads what the request is decided on, and what the descriptions refer to. One round trip. */
export async function loadSubscriptions(
  outside: Outside,
  resolved: Resolved,
  userId: number,
  asked: AskedSubscriptions,
): Promise<{ readonly snapshot: SubscribeSnapshot; readonly named: LoadedReferences }> {
  const ids = knownChannelIds(channelNames(asked), resolved);
  const people = principalIds(asked.principals, resolved, userId);
  const [snapshot, named] = await Promise.all([
    loadSubscribeSnapshot(outside.table, resolved.realm, userId, ids, people, asked.settings),
    loadReferences(outside, resolved, asked.names, userId),
  ]);
  return { snapshot, named };
}

/** Reads anew what the request is decided on: somebody else created or changed a channel. Two round trips. */
export async function reloadSubscriptions(
  { table }: Outside,
  resolved: Resolved,
  userId: number,
  asked: AskedSubscriptions,
): Promise<SubscribeSnapshot> {
  const { realm } = resolved;
  const ids = await loadChannelIds(table, realm, channelNames(asked));
  const people = principalIds(asked.principals, resolved, userId);
  return loadSubscribeSnapshot(table, realm, userId, ids, people, asked.settings);
}

/** The outcome of a request to subscribe people. */
export interface Subscribed {
  readonly subscribed: readonly Pair[];
  readonly already: readonly Pair[];
  readonly unauthorized: readonly string[];
  /** Whether people are told one by one. */
  readonly tells: boolean;
  /** Something is left to be told: the worker of the outbox must hear of it. */
  readonly isLeft: boolean;
}

/**
 * Subscribes people to channels, creating those that do not exist. Everything is checked before anything is
 * changed. What fits into one transaction is one; a larger request is several, each with whole subscriptions, their
 * counts and their events, so that a request that breaks off has done a part of its work and none by halves. To
 * repeat it does the rest.
 */
export async function subscribePeople(
  stage: Stage<SubscribeSnapshot>,
  caller: Caller,
  commit: Commit,
  request: SubscribeRequest,
  loaded: SubscribeSnapshot,
): Promise<Subscribed> {
  const done = new Map<string, Pair>();
  const progress: Progress = { done, created: new Set(), isLeft: false };
  let tells: boolean | undefined;
  const leave: Leave = (joinings, channels, number) =>
    doLeaveTelling(
      caller.realmId,
      { ...request.telling, people: tells === true },
      joinings.map(({ target, newcomers }, i) => {
        const channel = channels[i]?.channel as Channel;
        const isNew = 'create' in target;
        return { channel, newcomers, isNew, isOurs: isNew || progress.created.has(channel.channelId) };
      }),
      number,
      request.now,
    );
  const work = joiningWork(caller.realmId, commit, leave, progress);
  const { already, unauthorized } = await inBulk(stage, loaded, work, (snapshot) => {
    const decision = checkSubscribe(caller, request, snapshot);
    // What is decided anew is less, and no reason to tell people after all.
    tells ??= request.telling.people && mayTellPeople(decision.joinings);
    return { jobs: decision.joinings, decision };
  });
  return {
    subscribed: [...done.values()],
    // What an earlier transaction of this very request did is news to the caller.
    already: already.filter(({ userId, channel }) => !done.has(pairOf(userId, channel.channelId))),
    unauthorized,
    tells: tells === true,
    isLeft: progress.isLeft,
  };
}

/** What is to be told of joinings, once their channels are known, with a number of their transaction. */
type Leave = (joinings: readonly Joining[], channels: readonly CountedChannel[], number: number) => Write[];

/** What the transactions of a request have done so far. */
interface Progress {
  readonly done: Map<string, Pair>;
  /** The channels that were created for it. */
  readonly created: Set<number>;
  isLeft: boolean;
}

function joiningWork(realm: string, commit: Commit, leave: Leave, progress: Progress): Work<Joining> {
  // A channel that is created for its first newcomers is there for those in the next transaction.
  const made = new Map<string, CountedChannel>();
  const plan = (joinings: readonly Joining[], number: (index: number) => number, last: number) => {
    const change = doJoin(realm, joinings, number);
    const left = leave(joinings, change.result, last);
    return { ...change, writes: [...change.writes, ...left], isLeft: left.length > 0 };
  };
  const fits = (joinings: readonly Joining[]): boolean =>
    [joinings, joinings.map(asMade)].every((each) => isOneTransaction(plan(each, () => 0, 0)));
  return {
    fits,
    cut: ({ target, newcomers }) => cutOf(newcomers, (some) => ({ target, newcomers: some }), fits),
    run: async (given) => {
      const joinings = given.map(({ target, newcomers }) => ({
        target: ('create' in target ? made.get(folded(target.create.name)) : undefined) ?? target,
        newcomers,
      }));
      const { channels, isLeft } = await commit(entriesOfJoin(joinings), (numbers) => {
        const { isLeft, ...change } = plan(joinings, (i) => numbers[i] as number, numbers.at(-1) as number);
        return { ...change, result: { channels: change.result, isLeft } };
      });
      progress.isLeft ||= isLeft;
      for (const [i, counted] of channels.entries()) {
        const { channel } = counted;
        const joining = joinings[i];
        if (joining && 'create' in joining.target) progress.created.add(channel.channelId);
        made.set(folded(channel.name), counted);
        for (const { userId } of joining?.newcomers ?? []) {
          progress.done.set(pairOf(userId, channel.channelId), { userId, channel });
        }
      }
    },
  };
}

/** The joining as it is for those who come after the channel was created, which takes other writes. */
const asMade = ({ target, newcomers }: Joining): Joining => ({
  target: 'create' in target ? { channel: { ...target.create, channelId: 0 }, count: undefined } : target,
  newcomers,
});

/** Names of channels by the id of the person, as text since JSON has no other keys. */
export function namesByUser(pairs: readonly Pair[]): Record<string, string[]> {
  const lists: Record<string, string[]> = {};
  for (const { userId, channel } of pairs) {
    const list = lists[userId];
    if (list) list.push(channel.name);
    else lists[userId] = [channel.name];
  }
  return lists;
}
