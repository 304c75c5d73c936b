import { folded } from '../../kernel/folding.ts';
import { type Commit, cutOf, inBulk, isOneTransaction, type Stage, type Work } from '../../log/bulk.ts';
import type { Channel } from '../../model/channel/channel.ts';
import type { CountedChannel } from '../../model/subscription/object.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { Write } from '../../table/write.ts';
import { doJoin, entriesOfJoin, type Joining } from './join.ts';
import { checkSubscribe, type SubscribeRequest } from './subscribe-check.ts';
import { doLeaveTelling, mayTellPeople } from './subscription-leave.ts';
import { type Pair, pairOf, type SubscribeSnapshot } from './subscription-snapshot.ts';

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
