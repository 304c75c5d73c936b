import { isId } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import type { Commit } from '../../log/bulk.ts';
import type { Change } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Condition, Write } from '../../table/write.ts';
import { accessContent, type ChannelWithSubscription, loadChannel } from '../channel/access.ts';
import type { Standing } from '../permission/permission.ts';
import { EMPTY_TOPIC_NAME } from '../realm/realm.ts';
import type { Caller } from '../user/caller.ts';
import type { UserSettings } from '../user/user.ts';

/** A user's policy for a topic (wire facts 3.10). */
export const visibility = { inherit: 0, muted: 1, unmuted: 2, followed: 3 } as const;
export type Visibility = (typeof visibility)[keyof typeof visibility];

/** When a personal setting changes a topic's policy automatically; 4 is never. */
const when = { participation: 1, send: 2, initiation: 3 } as const;

/** What an automatic policy depends on. */
export interface AutomaticPolicyInput {
  readonly settings: UserSettings;
  readonly current: Visibility;
  /** The user has muted the channel. */
  readonly channelMuted: boolean;
  /** The sender could read no earlier message of the topic. */
  readonly startsTopic: boolean;
  /** They reacted and did not send: that counts as participation only. */
  readonly onlyReacts?: boolean;
}

/**
 * The policy that a topic gets for a user who sent to it or reacted in it; undefined if nothing changes (wire facts
 * 3.10). Following wins over unmuting.
 */
export function automaticPolicy({
  settings,
  current,
  channelMuted,
  startsTopic,
  onlyReacts = false,
}: AutomaticPolicyInput): Visibility | undefined {
  if (current === visibility.followed) return undefined;
  // A user with an explicit policy for the topic does not start it.
  const begins = startsTopic && current === visibility.inherit;
  const applies = (setting: number): boolean =>
    setting === when.participation ||
    (!onlyReacts && (setting === when.send || (setting === when.initiation && begins)));
  if (applies(settings.automatically_follow_topics_policy)) return visibility.followed;
  const unmutes = channelMuted && applies(settings.automatically_unmute_topics_in_muted_streams_policy);
  return unmutes && current !== visibility.unmuted ? visibility.unmuted : undefined;
}

/** A user's policy for one topic as stored. */
export interface UserTopic {
  readonly channelId: number;
  readonly topic: string;
  readonly policy: Visibility;
  /** Seconds since 1970. */
  readonly updated: number;
  /** The log number of its last change. */
  readonly changed?: number;
  /** If it followed a moved topic: the number of the move. Changes after the move override it. */
  readonly asOf?: number;
}

/** The same policy stored under the topic, so that a move finds it. */
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

/** Sets a user's policy for a topic. Fails if it is no longer `seen`. */
export function doSetVisibility(
  realm: string,
  userId: number,
  set: UserTopic,
  seen: UserTopic | undefined,
): { readonly writes: readonly Write[]; readonly entries: readonly EventEntry[] } {
  const when = seen === undefined ? { absent: true } : { equals: { policy: seen.policy } };
  return {
    writes: policyWrites(realm, userId, set, { underUser: when }),
    entries: [policyEvent([userId], set)],
  };
}

/** Writes a user's policy for one topic, under both, on conditions. */
function policyWrites(
  realm: string,
  userId: number,
  set: UserTopic,
  { underUser, underTopic }: { readonly underUser?: Condition; readonly underTopic?: Condition },
): Write[] {
  const { channelId, topic, policy } = set;
  const inverse = key('topicPolicy', { realm, channelId, topic: folded(topic), userId });
  const guard = underTopic && { when: underTopic };
  return [
    {
      put: userTopicKey(realm, set, userId),
      item: { ...set },
      ...(underUser && { when: underUser }),
      lastWriterWins: true,
    },
    policy === visibility.inherit
      ? { delete: inverse, ...guard }
      : { put: inverse, item: { userId, policy }, ...guard },
  ];
}

/**
 * The muted topics among these, each with the name of its channel and its time, as clients knew them before there were other
 * policies (wire facts 14.5).
 *
 * @param names of the channels that the user can see
 * @param emptyTopicName whether the client can handle the empty topic
 */
export const mutedTopics = (
  policies: readonly UserTopic[],
  names: ReadonlyMap<number, string>,
  emptyTopicName: boolean,
): [string, string, number][] =>
  policies.flatMap(({ channelId, topic, policy, updated }) => {
    const name = names.get(channelId);
    if (policy !== visibility.muted || name === undefined) return [];
    return [[name, topic === '' && !emptyTopicName ? EMPTY_TOPIC_NAME : topic, updated]];
  });

/** The key of a policy under its user. */
export const userTopicKey = (
  realm: string,
  { channelId, topic }: ChannelTopic,
  userId: number,
): Key<'userTopic'> => key('userTopic', { realm, userId, channelId, topic: folded(topic) });

/** All policies for a topic. */
export const loadTopicPolicies = (
  table: Table,
  realm: string,
  { channelId, topic }: ChannelTopic,
): Promise<TopicPolicy[]> => table.all('topicPolicy', { realm, channelId, topic: folded(topic) });

/** The `user_topic` event (wire facts 14.5) for users who get the same policy. */
const policyEvent = (
  users: readonly number[],
  { channelId, topic, policy, updated }: UserTopic,
): EventEntry => ({
  kind: 'event',
  hearers: { users },
  payload: {
    type: 'user_topic',
    stream_id: channelId,
    topic_name: topic,
    visibility_policy: policy,
    last_updated: updated,
  },
});

/**
 * Refuses a policy for a topic of a channel that the user cannot read, as if the channel did not exist. The topic need not
 * exist. A user may always remove their own policy.
 */
function accessUserTopic(
  who: Standing,
  seen: ChannelWithSubscription | undefined,
  stored: UserTopic | undefined,
  policy: Visibility,
): void {
  const hasPolicy = stored !== undefined && stored.policy !== visibility.inherit;
  if (policy === visibility.inherit && hasPolicy) return;
  accessContent(who, seen);
}

/** What decides about a user's policy for a topic: the channel, and the policy as it is. One round trip. */
export async function loadUserTopic(
  table: Table,
  realm: string,
  userId: number,
  { channelId, topic }: { readonly channelId: number | undefined; readonly topic: string },
) {
  if (channelId === undefined || !isId(channelId)) return { seen: undefined, stored: undefined };
  const [seen, stored] = await Promise.all([
    loadChannel(table, realm, channelId, userId),
    table.get('userTopic', { realm, userId, channelId, topic: folded(topic) }),
  ]);
  return { seen, stored };
}

/** Sets the caller's policy for a topic, unless they have it already. */
export async function changeVisibility(
  {
    caller,
    outside,
    commit,
  }: { readonly caller: Caller; readonly outside: Outside; readonly commit: Commit },
  set: Omit<UserTopic, 'updated'>,
  { seen, stored }: Awaited<ReturnType<typeof loadUserTopic>>,
): Promise<void> {
  accessUserTopic(caller.standing, seen, stored, set.policy);
  if (set.policy === (stored?.policy ?? visibility.inherit)) return;
  const updated = Math.floor(outside.now() / 1000);
  const change = doSetVisibility(caller.realmId, caller.user.userId, { ...set, updated }, stored);
  await commit(1, () => ({ ...change, result: undefined }));
}

/** Resets users' policies for a topic, each if it is still as read, with one event for all of them. */
export function doResetPolicies(
  realm: string,
  { channelId, topic }: ChannelTopic,
  people: readonly TopicPolicy[],
  updated: number,
): Pick<Change<undefined>, 'writes' | 'entries'> {
  const set = { channelId, topic, policy: visibility.inherit, updated };
  return {
    writes: people.flatMap(({ userId, policy }) =>
      policyWrites(realm, userId, set, { underTopic: { equals: { policy } } }),
    ),
    entries: [
      policyEvent(
        people.map(({ userId }) => userId),
        set,
      ),
    ],
  };
}

/*
 * When a topic moves, users' policies for it move too (wire facts 3.10). They are stored under the users, where each send
 * reads them, and under the topic, where a move finds them. An outbox job of the move does it (`domain/move/policies.ts`).
 */

/** A topic that moved: all of its messages, or those that the mover can see. */
export interface PoliciesTask {
  readonly from: ChannelTopic;
  readonly to: ChannelTopic;
  /** The destination already had messages. */
  readonly merges: boolean;
}

/** How a user's policies for the two topics change. */
export interface PolicyChange {
  readonly userId: number;
  readonly from: Visibility;
  readonly to: { readonly before: Visibility; readonly after: Visibility };
}

/** From most to least visible. When topics merge, the first one that applies wins. */
const byOpenness = [visibility.followed, visibility.unmuted, visibility.inherit, visibility.muted] as const;

const merged = (...policies: readonly Visibility[]): Visibility =>
  byOpenness.find((policy) => policies.includes(policy)) ?? visibility.inherit;

/** The change for a user who can read the destination. */
export const policyChange = (
  userId: number,
  was: Visibility,
  before: Visibility,
  merges: boolean,
): PolicyChange => {
  // A topic without messages does not merge, but a user may already have a policy for it.
  const moved = was === visibility.inherit ? before : was;
  return { userId, from: was, to: { before, after: merges ? merged(was, before) : moved } };
};

export const hasEffect = ({ from, to: { before, after } }: PolicyChange): boolean =>
  from !== visibility.inherit || before !== after;

/** Writes policy changes, each if it is still as read, and their events. `asOf` is the number of the move. */
export function doMovePolicies(
  realm: string,
  { from, to }: Pick<PoliciesTask, 'from' | 'to'>,
  changes: readonly PolicyChange[],
  updated: number,
  asOf: number,
): Pick<Change<undefined>, 'writes' | 'entries'> {
  const removed = changes
    .filter((change) => change.from !== visibility.inherit)
    .map(({ userId, from: before }) => ({ userId, before, after: visibility.inherit }));
  const added = changes
    .map(({ userId, to: change }) => ({ userId, ...change }))
    .filter(({ before, after }) => before !== after);
  const parts = [
    { place: from, people: removed },
    { place: to, people: added },
  ].flatMap(({ place: { channelId, topic }, people }) =>
    [...Map.groupBy(people, ({ after }) => after)].map(([policy, some]) => ({
      set: { channelId, topic, policy, updated, asOf },
      some,
    })),
  );
  return {
    writes: parts.flatMap(({ set, some }) =>
      some.flatMap(({ userId, before }) => {
        const seen = before === visibility.inherit ? { absent: true } : { equals: { policy: before } };
        return policyWrites(realm, userId, set, { underTopic: seen });
      }),
    ),
    entries: parts.map(({ set, some }) =>
      policyEvent(
        some.map(({ userId }) => userId),
        set,
      ),
    ),
  };
}
