import { type Commit, halvesOf, inBulk, isOneTransaction, type Stage, type Work } from '../bulk.ts';
import type { Caller } from '../caller.ts';
import type { Channel } from '../channel/channel.ts';
import { folded } from '../folding.ts';
import { doJoin, entriesOfJoin, type Joining } from './join.ts';
import { checkSubscribe, type SubscribeRequest } from './subscribe-check.ts';
import { type Pair, pairOf, type SubscribeGround } from './subscription-ground.ts';
import type { CountedChannel } from './subscription-object.ts';

/** The outcome of a request to subscribe people. */
export interface Subscribed {
  readonly subscribed: readonly Pair[];
  readonly already: readonly Pair[];
  readonly unauthorized: readonly string[];
  /** The channels that were created for it. */
  readonly created: readonly Channel[];
}

/**
 * Subscribes people to channels, creating those that do not exist. Everything is checked before anything is
 * changed. What fits into one transaction is one; a larger request is several, each with whole subscriptions, their
 * counts and their events, so that a request that breaks off has done a part of its work and none by halves. To
 * repeat it does the rest.
 */
export async function subscribePeople(
  stage: Stage<SubscribeGround>,
  caller: Caller,
  commit: Commit,
  request: SubscribeRequest,
  loaded: SubscribeGround,
): Promise<Subscribed> {
  const done = new Map<string, Pair>();
  const created: Channel[] = [];
  const work = joiningWork(caller.realmId, commit, done, created);
  const { already, unauthorized } = await inBulk(stage, loaded, work, (ground) => {
    const decision = checkSubscribe(caller, request, ground);
    return { jobs: decision.joinings, decision };
  });
  return {
    subscribed: [...done.values()],
    // What an earlier transaction of this very request did is news to the caller.
    already: already.filter(({ userId, channel }) => !done.has(pairOf(userId, channel.channelId))),
    unauthorized,
    created,
  };
}

function joiningWork(
  realm: string,
  commit: Commit,
  done: Map<string, Pair>,
  created: Channel[],
): Work<Joining> {
  // A channel that is created for its first newcomers is there for those in the next transaction.
  const made = new Map<string, CountedChannel>();
  return {
    fits: (joinings) =>
      [joinings, joinings.map(asMade)].every((each) => isOneTransaction(doJoin(realm, each, () => 0))),
    halves: ({ target, newcomers }) => {
      const halves = halvesOf(newcomers);
      return (
        halves && [
          { target, newcomers: halves[0] },
          { target, newcomers: halves[1] },
        ]
      );
    },
    run: async (given) => {
      const joinings = given.map(({ target, newcomers }) => ({
        target: ('create' in target ? made.get(folded(target.create.name)) : undefined) ?? target,
        newcomers,
      }));
      const channels = await commit(entriesOfJoin(joinings), (numbers) =>
        doJoin(realm, joinings, (i) => numbers[i] as number),
      );
      for (const [i, counted] of channels.entries()) {
        const { channel } = counted;
        const joining = joinings[i];
        if (joining && 'create' in joining.target) created.push(channel);
        made.set(folded(channel.name), counted);
        for (const { userId } of joining?.newcomers ?? []) {
          done.set(pairOf(userId, channel.channelId), { userId, channel });
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
