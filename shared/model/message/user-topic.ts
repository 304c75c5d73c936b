import { folded } from '../../kernel/folding.ts';
import type { Change } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { accessContent, type ChannelWithSubscription } from '../channel/access.ts';
import type { Standing } from '../permission/permission.ts';
import type { UserSettings } from '../user/user.ts';

/** How much of a topic a user wants to hear (wire facts 3.10). */
export const visibility = { inherit: 0, muted: 1, unmuted: 2, followed: 3 } as const;
export type Visibility = (typeof visibility)[keyof typeof visibility];

/** When a personal setting changes a topic's policy by itself; 4 is never. */
const when = { participation: 1, send: 2, initiation: 3 } as const;

/** What the automatic policies look at. */
export interface AutomaticPolicyInput {
  readonly settings: UserSettings;
  readonly current: Visibility;
  /** The sender has muted the channel. */
  readonly channelMuted: boolean;
  /** No earlier message of the topic could be read by the sender. */
  readonly startsTopic: boolean;
  /** They only reacted: that is participation, but nothing was sent. */
  readonly onlyReacts?: boolean;
}

/**
 * The policy that a topic gets because somebody sent to it or reacted in it, or undefined where nothing changes (wire facts 3.10).
 * Where one setting says to follow and the other to unmute, following wins.
 */
export function automaticPolicy({
  settings,
  current,
  channelMuted,
  startsTopic,
  onlyReacts = false,
}: AutomaticPolicyInput): Visibility | undefined {
  if (current === visibility.followed) return undefined;
  // Whoever has an explicit policy for the topic does not begin it.
  const begins = startsTopic && current === visibility.inherit;
  const applies = (setting: number): boolean =>
    setting === when.participation ||
    (!onlyReacts && (setting === when.send || (setting === when.initiation && begins)));
  if (applies(settings.automatically_follow_topics_policy)) return visibility.followed;
  const unmutes = channelMuted && applies(settings.automatically_unmute_topics_in_muted_streams_policy);
  return unmutes && current !== visibility.unmuted ? visibility.unmuted : undefined;
}

/** A user's policy for one topic, as stored. */
export interface UserTopic {
  readonly channelId: number;
  readonly topic: string;
  readonly policy: Visibility;
  /** Seconds since 1970. */
  readonly updated: number;
  /** The number of the log under which it was changed last. */
  readonly changed?: number;
  /**
   * Where it followed a topic some time after that had moved: the number of the move. It counts as chosen before
   * whatever came after the move.
   */
  readonly asOf?: number;
}

/** The same from the side of the topic, so that the policies can follow it when it moves. */
export interface TopicPolicy {
  readonly userId: number;
  readonly policy: Visibility;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    userTopic: UserTopic;
    topicPolicy: TopicPolicy;
  }
}

/** A topic of a channel, by its id. */
export interface ChannelTopic {
  readonly channelId: number;
  readonly topic: string;
}

/** Sets somebody's policy for a topic, held to the one that was seen, and tells their clients. */
export function doSetVisibility(
  realm: string,
  userId: number,
  set: UserTopic,
  seen: UserTopic | undefined,
): { readonly writes: readonly Write[]; readonly entries: readonly EventEntry[] } {
  const { policy } = set;
  const inverse = topicPolicyKey(realm, set, userId);
  return {
    writes: [
      {
        put: userTopicKey(realm, set, userId),
        item: { ...set },
        when: seen === undefined ? { absent: true } : { equals: { policy: seen.policy } },
        lastWriterWins: true,
      },
      policy === visibility.inherit ? { delete: inverse } : { put: inverse, item: { userId, policy } },
    ],
    entries: [{ kind: 'event', hearers: { users: [userId] }, payload: userTopicEvent(set) }],
  };
}

/** The key of somebody's policy, under them. */
export const userTopicKey = (
  realm: string,
  { channelId, topic }: ChannelTopic,
  userId: number,
): Key<'userTopic'> => key('userTopic', { realm, userId, channelId, topic: folded(topic) });

/** The key of its inverse, under the topic. */
export const topicPolicyKey = (
  realm: string,
  { channelId, topic }: ChannelTopic,
  userId: number,
): Key<'topicPolicy'> => key('topicPolicy', { realm, channelId, topic: folded(topic), userId });

/** Everybody who has a policy for the topic. */
export const loadTopicPolicies = (
  table: Table,
  realm: string,
  { channelId, topic }: ChannelTopic,
): Promise<TopicPolicy[]> => table.all('topicPolicy', { realm, channelId, topic: folded(topic) });

/** The `user_topic` event (wire facts 14.5). */
export const userTopicEvent = ({ channelId, topic, policy, updated }: UserTopic) => ({
  type: 'user_topic',
  stream_id: channelId,
  topic_name: topic,
  visibility_policy: policy,
  last_updated: updated,
});

/**
 * Lets someone set their policy for a topic of a channel that they can read, whether the topic exists or not. A
 * policy of one's own can also be taken back where the channel cannot be read any more; in every other case a
 * channel out of sight is refused as one that does not exist.
 */
export function accessUserTopic(
  who: Standing,
  seen: ChannelWithSubscription | undefined,
  stored: UserTopic | undefined,
  policy: Visibility,
): void {
  const hasPolicy = stored !== undefined && stored.policy !== visibility.inherit;
  if (policy === visibility.inherit && hasPolicy) return;
  accessContent(who, seen);
}

/*
 * Where a topic moves, the policies that people have for it follow (wire facts 3.10, as the reference does). They
 * stand under the people, since that is where they are read with every send; their inverse under the topic tells
 * whose they are, so that a move costs what there is to move, and nothing for anybody else.
 *
 * They follow a moment later, by a job of the outbox that the transaction of the move leaves (`policy-follow.ts`).
 */

/** A topic that moved as a whole, or all of it that the mover can see: what its policies follow. */
export interface PoliciesTask {
  readonly from: ChannelTopic;
  readonly to: ChannelTopic;
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
export const policyChange = (
  userId: number,
  was: Visibility,
  before: Visibility,
  merges: boolean,
): PolicyChange => {
  // A topic without messages has nothing to merge with, but somebody may have said already what they want of it.
  const moved = was === visibility.inherit ? before : was;
  return { userId, from: was, to: { before, after: merges ? merged(was, before) : moved } };
};

export const hasEffect = ({ from, to: { before, after } }: PolicyChange): boolean =>
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
  { channelId, topic }: ChannelTopic,
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
  const inverse = topicPolicyKey(realm, place, userId);
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
  { channelId, topic }: ChannelTopic,
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
