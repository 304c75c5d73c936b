import type { Change } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import type { Write } from '../../table/write.ts';
import { holderKey, type TopicPlace, type UserTopic, userTopicEvent, userTopicKey } from './user-topic.ts';
import { type Visibility, visibility } from './visibility.ts';

/*
 * Where a topic moves, the policies that people have for it follow (wire facts 3.10, as the reference does). They
 * stand under the people, since that is where they are read with every send; their inverse under the topic tells
 * whose they are, so that a move costs what there is to move, and nothing for anybody else.
 *
 * They follow a moment later, by a job of the outbox that the transaction of the move leaves (`policy-follow.ts`).
 */

/** A topic that moved as a whole, or all of it that the mover can see: what its policies follow. */
export interface PoliciesTask {
  readonly from: TopicPlace;
  readonly to: TopicPlace;
  /** There were other messages in the topic that it went to. */
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
 * number of the move.
 */
export function doMovePolicies(
  realm: string,
  { from, to }: Pick<PoliciesTask, 'from' | 'to'>,
  changes: readonly PolicyChange[],
  updated: number,
  asOf: number,
): Pick<Change<undefined>, 'writes' | 'entries'> {
  const taken = changes.filter((change) => change.from !== visibility.inherit);
  const given = changes.filter((change) => change.to.before !== change.to.after);
  const set = { updated, asOf };
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
      lastWriterWins: true,
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
