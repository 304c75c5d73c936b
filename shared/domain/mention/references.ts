import { badRequest, refusal } from '../../kernel/errors.ts';
import { codePoints, folded } from '../../kernel/folding.ts';
import { isId } from '../../kernel/id.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import type {
  References,
  ResolvedChannel,
  ResolvedEmoji,
  ResolvedGroup,
  ResolvedReferences,
  ResolvedUser,
} from '../../markdown/references.ts';
import {
  type ChannelWithSubscription,
  hasMetadataAccess,
  mayReadMessage,
} from '../../model/channel/access.ts';
import type { Channel, Subscription } from '../../model/channel/channel.ts';
import type { Group } from '../../model/group/group.ts';
import { topicKey } from '../../model/message/topic.ts';
import { type ChannelTopic, type UserTopic, visibility } from '../../model/message/user-topic.ts';
import { holds, isSystemGroup, type Standing, systemGroups } from '../../model/permission/permission.ts';
import { limits } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import { settingsOf, type User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';

/** The names in a text, as pointers to look up before anything else. */
export function referenceLookupKeys(names: References): LookupKey[] {
  return [
    ...names.users.flatMap(({ id, name }) =>
      id === undefined && name !== undefined ? [fullName(name)] : [],
    ),
    ...names.groups.map((name): LookupKey<'groupName'> => ({ kind: 'groupName', name })),
    ...names.channels.map((name): LookupKey<'channelName'> => ({ kind: 'channelName', name })),
    ...[...names.emoji, ...names.builtInEmoji].map(
      (name): LookupKey<'emojiName'> => ({ kind: 'emojiName', name }),
    ),
  ];
}

const fullName = (name: string): LookupKey<'fullName'> => ({ kind: 'fullName', name });

/** What stands behind the names in a text, as far as it was found. */
export interface LoadedReferences {
  readonly users: ReadonlyMap<number, User>;
  readonly groups: readonly Group[];
  readonly channels: readonly {
    readonly channel: Channel;
    readonly subscription: Subscription | undefined;
  }[];
  /** The newest message of each topic that the text links to. */
  readonly topics: readonly (ChannelTopic & { readonly newest: number })[];
  readonly names: References;
  readonly resolved: Resolved;
}

/** The bearers of one name that are looked at; who shares a name with more is mentioned with an id. */
const NAMESAKES = 10;

/** The ids of the users that a text may mention. */
export function mentionableUserIds(names: References, resolved: Resolved): number[] {
  const ids = names.users.flatMap(({ id, name }) => {
    if (id !== undefined) return isId(id) ? [id] : [];
    return name === undefined ? [] : bearers(resolved, name);
  });
  return [...new Set(ids)];
}

const bearers = (resolved: Resolved, name: string): number[] =>
  [...(resolved.follow(fullName(name))?.users ?? [])].sort((a, b) => a - b).slice(0, NAMESAKES);

/** Reads what stands behind the names in a text, in one round trip with whatever is read beside it. */
export async function loadReferences(
  outside: Outside,
  resolved: Resolved,
  names: References,
  userId: number,
): Promise<LoadedReferences> {
  const { realm } = resolved;
  const { table } = outside;
  const groupIds = names.groups.flatMap(
    (name) => resolved.follow({ kind: 'groupName', name })?.groupId ?? [],
  );
  const channelIdOf = (name: string): number | undefined =>
    resolved.follow({ kind: 'channelName', name })?.channelId;
  const channelIds = names.channels.flatMap((name) => channelIdOf(name) ?? []);
  const [users, groups, channels, topics] = await Promise.all([
    table.getMany(mentionableUserIds(names, resolved).map((id) => key('user', { realm, userId: id }))),
    table.getMany(groupIds.map((groupId) => key('group', { realm, groupId }))),
    Promise.all(
      [...new Set(channelIds)].map(async (channelId) => {
        const [channel, subscription] = await Promise.all([
          table.get('channel', { realm, channelId }),
          table.get('subscription', { realm, userId, channelId }),
        ]);
        return channel === undefined ? [] : [{ channel, subscription }];
      }),
    ),
    Promise.all(
      names.topics.map(async ({ channel, topic }) => {
        const channelId = channelIdOf(channel);
        if (channelId === undefined || codePoints(topic) > limits.topic) return [];
        const stored = await table.get(topicKey(realm, { channelId, topic }));
        return stored === undefined ? [] : [{ channelId, topic, newest: stored.maxId }];
      }),
    ),
  ]);
  return {
    users: new Map(users.map((user) => [user.userId, user])),
    groups,
    channels: channels.flat(),
    topics: topics.flat(),
    names,
    resolved,
  };
}

/** The same without some people, whose names then stay plain text. */
export const withoutHiddenUsers = (named: LoadedReferences, hidden: ReadonlySet<number>): LoadedReferences =>
  hidden.size === 0
    ? named
    : { ...named, users: new Map([...named.users].filter(([userId]) => !hidden.has(userId))) };

/** What a text may refer to when this person writes it: a channel that they may not know stays plain text. */
export function resolveReferences(standing: Standing, named: LoadedReferences): ResolvedReferences {
  const active = [...named.users.values()].filter((user) => user.isActive);
  const byId = new Map<number, ResolvedUser>(
    active.map(({ userId, fullName }) => [userId, { id: userId, fullName }]),
  );
  const byName = new Map<string, ResolvedUser>();
  for (const { name } of named.names.users) {
    if (name === undefined) continue;
    const bearer = bearers(named.resolved, name)
      .map((id) => byId.get(id))
      .find((user) => user && folded(user.fullName) === folded(name));
    if (bearer) byName.set(name, bearer);
  }
  const channels = new Map<string, ResolvedChannel>();
  for (const name of named.names.channels) {
    // Another spelling is not the name in a text, although it leads to the channel elsewhere.
    const seen = named.channels.find(({ channel }) => channel.name === name);
    if (seen && hasMetadataAccess(standing, seen)) channels.set(name, foundChannel(standing, named, seen));
  }
  const emoji = new Map<string, ResolvedEmoji>();
  for (const name of [...named.names.emoji, ...named.names.builtInEmoji]) {
    const found = named.resolved.follow({ kind: 'emojiName', name });
    if (found) emoji.set(name, { sourceUrl: found.sourceUrl });
  }
  return { usersById: byId, usersByName: byName, groups: groupsFor(named), channels, emoji };
}

function foundChannel(
  standing: Standing,
  { topics }: LoadedReferences,
  seen: ChannelWithSubscription,
): ResolvedChannel {
  const { channelId: id, name } = seen.channel;
  const readable = topics.filter(
    ({ channelId, newest }) => channelId === id && mayReadMessage(standing, seen, newest),
  );
  return { id, name, newestByTopic: new Map(readable.map(({ topic, newest }) => [topic, newest])) };
}

/** Named groups that are in use, and the system groups: a text names them as the API does, readers see what they are. */
function groupsFor({ groups, names }: LoadedReferences): Map<string, ResolvedGroup> {
  const found = new Map<string, ResolvedGroup>();
  for (const { id, name, shown } of Object.values(systemGroups))
    if (names.groups.includes(name)) found.set(name, { id, name: shown });
  for (const { groupId, name, deactivated } of groups) {
    if (!deactivated && !isSystemGroup(groupId)) found.set(name, { id: groupId, name });
  }
  return found;
}

/** What is counted of the people whom a wildcard mention would notify. */
export interface WildcardCounts {
  readonly subscribers: number;
  /** People who take part in the topic, the sender included. */
  readonly participants: number;
}

/** Decides whether the message may notify so many people (specification 4.1 rule 3, wire facts 3.7). */
export function checkWildcards(
  { standing, realm }: Pick<Caller, 'standing' | 'realm'>,
  mentions: { readonly channelWildcard: boolean; readonly topicWildcard: boolean },
  crowd: WildcardCounts,
): void {
  if (holds(standing, realm.settings.can_mention_many_users_group)) return;
  if (mentions.channelWildcard && crowd.subscribers > limits.wildcard)
    throw refusal('channelWildcardRefused');
  if (mentions.topicWildcard && crowd.participants > limits.wildcard) throw refusal('topicWildcardRefused');
}

/**
 * Decides whether the caller may mention these groups, in any kind of message (wire facts 3.7). Nobody may mention
 * the groups of the roles, which would be a wildcard of no limit.
 */
export function checkGroupMentions(
  { standing }: Pick<Caller, 'standing'>,
  groups: readonly Group[],
  mentioned: readonly number[],
): void {
  const role = Object.values(systemGroups).find(({ id }) => mentioned.includes(id));
  const refused =
    role ??
    groups.find(
      ({ groupId, settings }) => mentioned.includes(groupId) && !holds(standing, settings.can_mention_group),
    );
  if (refused) throw badRequest(`You do not have permission to mention the group '${refused.name}'.`);
}

/** What must be known of somebody who may be mentioned, to let them follow the topic. */
export interface Mentionable {
  readonly userId: number;
  /** They want to follow topics in which they are mentioned. */
  readonly follows: boolean;
  /** Their own policy for the topic. */
  readonly seen: UserTopic | undefined;
  readonly isSubscribed: boolean;
}

/** Reads what decides whether people who are mentioned start to follow the topic. */
export const loadMentionable = (
  { table }: Outside,
  realm: string,
  channelId: number,
  topic: string,
  userIds: readonly number[],
): Promise<Mentionable[]> =>
  Promise.all(
    userIds.map(async (userId) => {
      const [settings, seen, subscription] = await Promise.all([
        table.get('settings', { realm, userId }),
        table.get('userTopic', { realm, userId, channelId, topic: folded(topic) }),
        table.get('subscription', { realm, userId, channelId }),
      ]);
      const follows = settingsOf(settings).automatically_follow_topics_where_mentioned;
      return { userId, follows, seen, isSubscribed: subscription !== undefined };
    }),
  );

/** Most people whom one message makes follow its topic: each takes two writes of its one transaction. */
const MAX_FOLLOWING = 40;

/**
 * People who are mentioned by name begin to follow the topic, if they want that and have neither muted nor followed
 * it (wire facts 3.10). Bots follow nothing.
 */
export const followersOf = (
  mentionable: readonly Mentionable[],
  mentioned: readonly number[],
  users: ReadonlyMap<number, User>,
): Mentionable[] =>
  mentionable
    .filter(
      ({ userId, follows, seen, isSubscribed }) =>
        follows &&
        isSubscribed &&
        mentioned.includes(userId) &&
        users.get(userId)?.isBot === false &&
        seen?.policy !== visibility.muted &&
        seen?.policy !== visibility.followed,
    )
    .slice(0, MAX_FOLLOWING);
