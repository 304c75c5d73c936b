import type { Change } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { isSameTopic } from '../message/conversation.ts';
import { loadKind } from '../outbox/outbox.ts';
import {
  type Holder,
  holderKey,
  loadHolders,
  type TopicPlace,
  type UserTopic,
  userTopicEvent,
  userTopicKey,
} from './user-topic.ts';
import { type Visibility, visibility } from './visibility.ts';

/*
 * Where a topic moves, the policies that people have for it follow (wire facts 3.10, as the reference does). They
 * stand under the people, since that is where they are read with every send; their inverse under the topic tells
 * whose they are, so that a move costs what there is to move, and nothing for anybody else.
 *
 * Those of a few people go in the transaction with which the topic goes. The rest follows a moment later, through the
 * outbox: what one transaction does not hold; and where the topic goes to another channel, all but the mover's own,
 * since it would take another round trip to find out who may read it there.
 */

/** Who has a policy for the topic that messages leave, and for the one that they go to, as far as it was read. */
export interface Policies {
  readonly from: readonly Holder[];
  readonly to: readonly Holder[];
  /** There may be others, whose ids are above this one. */
  readonly horizon: number;
  /** An earlier move of one of these topics still has policies to follow, which go first. */
  readonly waits: boolean;
}

/** People whose policies are read with the message: more than its transaction can take. */
const MOST_READ = 25;

/** Earlier moves that are looked at; where there are more, the policies wait for all of them. */
const MOST_MOVES = 50;

/** Writes for one person: their policies for both topics, and the inverse of each. */
const WRITES = 4;

/** What the policies of a moved topic that did not go with it follow. */
export interface PoliciesTask {
  readonly from: TopicPlace;
  readonly to: TopicPlace;
  /** There were other messages in the topic that it went to. */
  readonly merges: boolean;
}

/** Reads the policies of some people. One round trip. */
export async function loadPolicies(
  table: Table,
  realm: string,
  { from, to }: Pick<PolicyMove, 'from' | 'to'>,
): Promise<Policies> {
  // Another spelling is the same topic.
  if (isSameTopic(from, to)) return { from: [], to: [], horizon: Number.POSITIVE_INFINITY, waits: false };
  const [old, now, moves] = await Promise.all([
    loadHolders(table, realm, from, MOST_READ),
    loadHolders(table, realm, to, MOST_READ),
    loadKind<PoliciesTask>(table, realm, 'policies', MOST_MOVES),
  ]);
  const ends = [old, now].map((list) =>
    list.length < MOST_READ ? Number.POSITIVE_INFINITY : (list.at(-1)?.userId ?? 0),
  );
  const places = moves.flatMap((move) => [move.from, move.to]);
  return {
    from: old,
    to: now,
    horizon: Math.min(...ends),
    waits:
      moves.length === MOST_MOVES ||
      places.some((place) => isSameTopic(place, from) || isSameTopic(place, to)),
  };
}

/** A topic that moves as a whole, or all of it that the mover can see. */
export interface PolicyMove {
  readonly from: TopicPlace;
  readonly to: TopicPlace;
  /** There are other messages in the topic that it goes to. */
  readonly merges: boolean;
}

/** What becomes of somebody's policies for the two topics. */
export interface PolicyChange {
  readonly userId: number;
  readonly from: Visibility;
  readonly to: { readonly before: Visibility; readonly after: Visibility };
}

/** From the one with which most is shown to the one with which least is: where topics merge, the first one stays. */
const byOpenness = [visibility.followed, visibility.unmuted, visibility.inherit, visibility.muted] as const;

const merged = (...policies: readonly Visibility[]): Visibility =>
  byOpenness.find((policy) => policies.includes(policy)) ?? visibility.inherit;

/**
 * The policies that go in the transaction with which the topic goes, which has room for so many writes, held to what
 * was seen of them; and whether others must follow. `now` is in milliseconds.
 */
export function movePolicies(
  realm: string,
  moverId: number,
  move: PolicyMove,
  { from, to, horizon, waits }: Policies,
  room: number,
  now: number,
): Pick<Change<undefined>, 'writes' | 'entries'> & { readonly others: boolean } {
  const all = changesOf(from, to, move.merges);
  // Who moves messages to a channel was found to read it.
  const mayGo = ({ userId }: PolicyChange): boolean =>
    userId <= horizon && (move.from.channelId === move.to.channelId || userId === moverId);
  const beside = waits ? [] : all.filter(mayGo).slice(0, Math.max(0, Math.floor(room / WRITES)));
  return {
    ...doMovePolicies(realm, move, beside, Math.floor(now / 1000)),
    others: waits || horizon !== Number.POSITIVE_INFINITY || beside.length < all.length,
  };
}

/** What becomes of everybody's policies, if they can read the channel that the topic goes to. */
function changesOf(from: readonly Holder[], to: readonly Holder[], merges: boolean): PolicyChange[] {
  const old = new Map(from.map(({ userId, policy }) => [userId, policy]));
  const there = new Map(to.map(({ userId, policy }) => [userId, policy]));
  return [...new Set([...old.keys(), ...there.keys()])]
    .map((userId) =>
      changeFor(
        userId,
        old.get(userId) ?? visibility.inherit,
        there.get(userId) ?? visibility.inherit,
        merges,
      ),
    )
    .filter(isChange);
}

/** What becomes of somebody's policies, if they can read the channel that the topic goes to. */
export const changeFor = (
  userId: number,
  was: Visibility,
  before: Visibility,
  merges: boolean,
): PolicyChange => {
  // A topic without messages has nothing to merge with, but somebody may have said already what they want of it.
  const moved = was === visibility.inherit ? before : was;
  return { userId, from: was, to: { before, after: merges ? merged(was, before) : moved } };
};

export const isChange = ({ from, to: { before, after } }: PolicyChange): boolean =>
  from !== visibility.inherit || before !== after;

/**
 * The changes, each held to the policies that were seen, and what the people's clients are told of them. `asOf` is the
 * number of the move where they come after it.
 */
export function doMovePolicies(
  realm: string,
  { from, to }: Pick<PolicyMove, 'from' | 'to'>,
  changes: readonly PolicyChange[],
  updated: number,
  asOf?: number,
): Pick<Change<undefined>, 'writes' | 'entries'> {
  const taken = changes.filter((change) => change.from !== visibility.inherit);
  const given = changes.filter((change) => change.to.before !== change.to.after);
  const set = { updated, ...(asOf !== undefined && { asOf }) };
  return {
    writes: [
      ...taken.flatMap(({ userId, from: was }) =>
        changeOf(realm, from, userId, { before: was, after: visibility.inherit, set }),
      ),
      ...given.flatMap(({ userId, to: change }) => changeOf(realm, to, userId, { ...change, set })),
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
    set,
  }: PolicyChange['to'] & {
    readonly set: Pick<UserTopic, 'updated' | 'asOf'>;
  },
): Write[] {
  const place = { channelId, topic };
  const inverse = holderKey(realm, place, userId);
  const when = before === visibility.inherit ? { absent: true } : { equals: { policy: before } };
  return [
    {
      put: userTopicKey(realm, place, userId),
      item: { ...place, policy, ...set },
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
