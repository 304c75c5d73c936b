import type { Change } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import type { Commit } from '../bulk.ts';
import { type Caller, directGroups } from '../caller.ts';
import type { Channel, Subscription } from '../channel/channel.ts';
import { hasContentAccess } from '../channel/channel-access.ts';
import { folded } from '../folding.ts';
import type { Outside } from '../outside.ts';
import { standingOf } from '../permission.ts';
import { badRequest } from '../problems.ts';
import type { User } from '../user/user.ts';
import {
  type Holder,
  holderKey,
  loadHolders,
  type TopicPlace,
  userTopicEvent,
  userTopicKey,
} from './user-topic.ts';
import { type Visibility, visibility } from './visibility.ts';

/*
 * Where a topic moves, the policies that people have for it follow (wire facts 3.10, as the reference does). They
 * stand under the people, since that is where they are read with every send; their inverse under the topic tells
 * whose they are, so that a move costs what there is to move, and nothing for anybody else.
 */

/** Who has a policy for the topic that messages leave, and for the one that they go to. */
export interface Policies {
  readonly from: readonly Holder[];
  readonly to: readonly Holder[];
  /** There may be others that were not read. */
  readonly isPart: boolean;
}

/** People whose policies go in the transaction with which the topic goes; what is more goes before it. */
const MOST_BESIDE = 4;
/** People in one such transaction before it: each takes four writes. */
const STEP = 22;

/** Reads the policies: just some of them, unless all are asked for. One round trip. */
export async function loadPolicies(
  table: Table,
  realm: string,
  { from, to }: Pick<PolicyMove, 'from' | 'to'>,
  extent: 'some' | 'all',
): Promise<Policies> {
  // Another spelling is the same topic.
  if (from.channelId === to.channelId && folded(from.topic) === folded(to.topic)) {
    return { from: [], to: [], isPart: false };
  }
  const limit = extent === 'all' ? undefined : MOST_BESIDE + 1;
  const [old, now] = await Promise.all([
    loadHolders(table, realm, from, limit),
    loadHolders(table, realm, to, limit),
  ]);
  return { from: old, to: now, isPart: [old, now].some(({ length }) => length === limit) };
}

/** A topic that moves as a whole, or all of it that the mover can see. */
export interface PolicyMove {
  readonly from: TopicPlace;
  readonly to: TopicPlace;
  /** The channel that it goes to. */
  readonly channel: Channel;
  /** There are other messages in the topic that it goes to. */
  readonly merges: boolean;
}

/** What becomes of somebody's policies for the two topics. */
interface PolicyChange {
  readonly userId: number;
  readonly from: Visibility;
  readonly to: { readonly before: Visibility; readonly after: Visibility };
}

/** From the one with which most is shown to the one with which least is: where topics merge, the first one stays. */
const byOpenness = [visibility.followed, visibility.unmuted, visibility.inherit, visibility.muted] as const;

const merged = (...policies: readonly Visibility[]): Visibility =>
  byOpenness.find((policy) => policies.includes(policy)) ?? visibility.inherit;

/** Who moves the topic, and until when (ms). */
interface Mover {
  readonly outside: Outside;
  readonly caller: Caller;
  readonly commit: Commit;
  readonly ends: number;
}

/**
 * Lets the policies follow, in steps of a few people, all but the last few: what they need is returned, for the
 * transaction with which the topic goes. Who cannot read the channel that it goes to only loses theirs.
 */
export async function movePolicies(
  { outside, caller, commit, ends }: Mover,
  move: PolicyMove,
  seen: Policies,
): Promise<Pick<Change<undefined>, 'writes' | 'entries'>> {
  const { realmId: realm } = caller;
  const policies = seen.isPart ? await loadPolicies(outside.table, realm, move, 'all') : seen;
  const left = changesOf(policies, move.merges);
  const decide = async (changes: readonly PolicyChange[]): Promise<readonly PolicyChange[]> => {
    const readers = await readersAmong(outside, caller, move, changes);
    return changes.map((change) => (readers.has(change.userId) ? change : withoutTarget(change)));
  };
  const carryOut = (changes: readonly PolicyChange[]) =>
    doMovePolicies(realm, move, changes, Math.floor(outside.now() / 1000));
  while (left.length > MOST_BESIDE) {
    if (outside.now() > ends) {
      throw badRequest('Some of what goes with the topic is still to be moved; send the same request again.');
    }
    const change = carryOut(await decide(left.splice(0, STEP)));
    const { length } = change.entries;
    if (length > 0) await commit(length, () => ({ ...change, result: undefined }));
  }
  return carryOut(await decide(left));
}

/** What becomes of everybody's policies, if they can read the channel that the topic goes to. */
function changesOf({ from, to }: Policies, merges: boolean): PolicyChange[] {
  const old = new Map(from.map(({ userId, policy }) => [userId, policy]));
  const there = new Map(to.map(({ userId, policy }) => [userId, policy]));
  return [...new Set([...old.keys(), ...there.keys()])]
    .map((userId): PolicyChange => {
      const [was, before] = [old, there].map((policies) => policies.get(userId) ?? visibility.inherit) as [
        Visibility,
        Visibility,
      ];
      // A topic without messages has nothing to merge with, but somebody may have said already what they want of it.
      const moved = was === visibility.inherit ? before : was;
      return { userId, from: was, to: { before, after: merges ? merged(was, before) : moved } };
    })
    .filter(({ from: was, to: { before, after } }) => was !== visibility.inherit || before !== after);
}

const withoutTarget = ({ to: { before }, ...change }: PolicyChange): PolicyChange => ({
  ...change,
  to: { before, after: before },
});

/** Those of the people who may read the channel that the topic goes to. No round trip where it stays in its channel. */
async function readersAmong(
  outside: Outside,
  { realmId: realm, realm: { settings }, graph, user: mover }: Caller,
  { from, to, channel }: PolicyMove,
  people: readonly { readonly userId: number }[],
): Promise<ReadonlySet<number>> {
  const ids = people.map(({ userId }) => userId);
  if (from.channelId === to.channelId || ids.length === 0) return new Set(ids);
  const { channelId } = channel;
  const now = outside.now();
  const readers = await Promise.all(
    ids.map(async (userId) => {
      // Who moves messages there was found to read it.
      if (userId === mover.userId) return [userId];
      const [user, subscription, groups] = await Promise.all([
        outside.table.get<User>(key('user', { realm, userId })),
        outside.table.get<Subscription>(key('subscription', { realm, userId, channelId })),
        channel.isPrivate ? directGroups(outside, realm, userId) : [],
      ]);
      if (user === undefined) return [];
      const standing = standingOf(user, groups, graph, settings.waiting_period_threshold, now);
      return hasContentAccess(standing, { channel, subscription }) ? [userId] : [];
    }),
  );
  return new Set(readers.flat());
}

/** The changes, each held to the policies that were seen, and what the people's clients are told of them. */
function doMovePolicies(
  realm: string,
  { from, to }: PolicyMove,
  changes: readonly PolicyChange[],
  updated: number,
): Pick<Change<undefined>, 'writes' | 'entries'> {
  const taken = changes.filter((change) => change.from !== visibility.inherit);
  const given = changes.filter((change) => change.to.before !== change.to.after);
  return {
    writes: [
      ...taken.flatMap(({ userId, from: was }) =>
        changeOf(realm, from, userId, { before: was, after: visibility.inherit, updated }),
      ),
      ...given.flatMap(({ userId, to: change }) => changeOf(realm, to, userId, { ...change, updated })),
    ],
    entries: [
      ...told(from, taken, () => visibility.inherit, updated),
      ...told(to, given, (change) => change.to.after, updated),
    ],
  };
}

/** Somebody's policy for one topic and its inverse. */
function changeOf(
  realm: string,
  { channelId, topic }: TopicPlace,
  userId: number,
  {
    before,
    after: policy,
    updated,
  }: PolicyChange['to'] & {
    readonly updated: number;
  },
): Write[] {
  const place = { channelId, topic };
  const inverse = holderKey(realm, place, userId);
  const when = before === visibility.inherit ? { absent: true } : { equals: { policy: before } };
  return [
    {
      put: userTopicKey(realm, place, userId),
      item: { ...place, policy, updated },
      inOrder: true,
    },
    policy === visibility.inherit
      ? { delete: inverse, when }
      : { put: inverse, item: { userId, policy }, when },
  ];
}

/** People who get the same policy are told by one event. */
function told(
  { channelId, topic }: TopicPlace,
  changes: readonly PolicyChange[],
  policyOf: (change: PolicyChange) => Visibility,
  updated: number,
): EventEntry[] {
  const byPolicy = Map.groupBy(changes, policyOf);
  return [...byPolicy].map(([policy, people]) => ({
    kind: 'event',
    hearers: { users: people.map(({ userId }) => userId) },
    payload: userTopicEvent({ channelId, topic, policy, updated }),
  }));
}
