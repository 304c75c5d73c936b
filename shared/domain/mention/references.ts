import { badRequest, refusal } from '../../kernel/errors.ts';
import { fullNameKey, isId, type LookupKey, type Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { codePoints, folded } from '../../kernel/text.ts';
import { loadTypesetter, type Typesetter } from '../../markdown/formula.ts';
import type { Linkifiers } from '../../markdown/linkifier-engine.ts';
import type {
  Lookup,
  References,
  ResolvedChannel,
  ResolvedEmoji,
  ResolvedGroup,
  ResolvedImage,
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
import { loadCompiledLinkifiers } from '../../model/realm/linkifiers.ts';
import { limits } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import { settingsOf, type User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';

/** The lookup keys of the names in a text. */
export function referenceLookupKeys(names: References): LookupKey[] {
  return [
    ...names.users.flatMap(({ id, name }) =>
      id === undefined && name !== undefined ? [fullNameKey(name)] : [],
    ),
    ...names.groups.map((name): LookupKey<'groupName'> => ({ kind: 'groupName', name })),
    ...names.channels.map((name): LookupKey<'channelName'> => ({ kind: 'channelName', name })),
    ...[...names.emoji, ...names.builtInEmoji].map(
      (name): LookupKey<'emojiName'> => ({ kind: 'emojiName', name }),
    ),
  ];
}

/** The items that the names in a text refer to. */
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
  /** Sets the formulas, if the text may have some. */
  readonly typesetter: Typesetter | undefined;
  /** Those of the writer's organization, which is known once the caller is (`loadForWriter`). */
  readonly linkifiers?: Linkifiers | undefined;
  /** The images that the text may show (`shownImages`). */
  readonly images?: Lookup<string, ResolvedImage> | undefined;
  /** Whether the writer has faces such as `:)` translated. False if the text has none. */
  readonly translatesFaces: boolean;
  readonly baseUrl: string | undefined;
}

/** Most users with one name to consider. Beyond that, a mention needs an id. */
const MAX_NAMESAKES = 10;

/** The ids of the users that a text may mention. */
export function mentionableUserIds(names: References, resolved: Resolved): number[] {
  const ids = names.users.flatMap(({ id, name }) => {
    if (id !== undefined) return isId(id) ? [id] : [];
    return name === undefined ? [] : bearers(resolved, name);
  });
  return [...new Set(ids)];
}

const bearers = (resolved: Resolved, name: string): number[] =>
  [...(resolved.follow(fullNameKey(name))?.users ?? [])].sort((a, b) => a - b).slice(0, MAX_NAMESAKES);

/**
 * Loads the items that the names in a text refer to, and what else its rendering needs. One round trip. Links to places
 * below `baseUrl` become relative.
 */
export async function loadReferences(
  outside: Outside,
  resolved: Resolved,
  names: References,
  userId: number,
  baseUrl?: string,
): Promise<LoadedReferences> {
  const { realm } = resolved;
  const { table } = outside;
  const groupIds = names.groups.flatMap(
    (name) => resolved.follow({ kind: 'groupName', name })?.groupId ?? [],
  );
  const channelIdOf = (name: string): number | undefined =>
    resolved.follow({ kind: 'channelName', name })?.channelId;
  const channelIds = names.channels.flatMap((name) => channelIdOf(name) ?? []);
  const [users, groups, channels, topics, settings, typesetter] = await Promise.all([
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
    names.faces ? table.get('settings', { realm, userId }) : undefined,
    names.formulas ? loadTypesetter() : undefined,
  ]);
  return {
    users: new Map(users.map((user) => [user.userId, user])),
    groups,
    channels: channels.flat(),
    topics: topics.flat(),
    names,
    resolved,
    typesetter,
    translatesFaces: names.faces && settingsOf(settings).translate_emoticons === true,
    baseUrl,
  };
}

/** The same without users whom the writer may not see. Their names stay plain text. */
export const withoutHiddenUsers = (named: LoadedReferences, hidden: ReadonlySet<number>): LoadedReferences =>
  hidden.size === 0
    ? named
    : { ...named, users: new Map([...named.users].filter(([userId]) => !hidden.has(userId))) };

/**
 * The same as the writer of the text may use it: without users whom they may not see, with the images that the text may
 * show, and with the linkifiers of their organization. No round trip in a container that remembers those.
 */
export const loadForWriter = async (
  outside: Outside,
  { realmId, realm }: Caller,
  named: LoadedReferences,
  hidden: ReadonlySet<number>,
  images: LoadedReferences['images'],
): Promise<LoadedReferences> => ({
  ...withoutHiddenUsers(named, hidden),
  images,
  linkifiers: await loadCompiledLinkifiers(outside, realmId, realm),
});

/** The references that the writer may use. Channels that they may not see stay plain text. */
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
    // Channel links are case-sensitive, unlike lookups.
    const seen = named.channels.find(({ channel }) => channel.name === name);
    if (seen && hasMetadataAccess(standing, seen)) channels.set(name, foundChannel(standing, named, seen));
  }
  const emoji = new Map<string, ResolvedEmoji>();
  for (const name of [...named.names.emoji, ...named.names.builtInEmoji]) {
    const found = named.resolved.follow({ kind: 'emojiName', name });
    if (found) emoji.set(name, { sourceUrl: found.sourceUrl });
  }
  const { typesetter, linkifiers, images, translatesFaces, baseUrl } = named;
  return {
    usersById: byId,
    usersByName: byName,
    groups: groupsFor(named),
    channels,
    emoji,
    typesetter,
    linkifiers,
    images,
    translatesFaces,
    baseUrl,
  };
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

/** Active groups, and system groups, which a text names as the API does but which have another display name. */
function groupsFor({ groups, names }: LoadedReferences): Map<string, ResolvedGroup> {
  const found = new Map<string, ResolvedGroup>();
  for (const { id, name, shown } of Object.values(systemGroups))
    if (names.groups.includes(name)) found.set(name, { id, name: shown });
  for (const { groupId, name, deactivated } of groups) {
    if (!deactivated && !isSystemGroup(groupId)) found.set(name, { id: groupId, name });
  }
  return found;
}

/** How many people wildcard mentions would notify. */
export interface WildcardCounts {
  readonly subscribers: number;
  /** Participants of the topic, including the sender. */
  readonly participants: number;
}

/** Refuses wildcard mentions that would notify too many people (specification 4.1 rule 3, wire facts 3.7). */
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
 * Refuses groups that the caller may not mention (wire facts 3.7). Nobody may mention the groups of roles: that would be a
 * wildcard without a limit.
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

/** A user who may be mentioned, and whether they would follow the topic. */
export interface Mentionable {
  readonly userId: number;
  /** Their setting to follow topics where they are mentioned. */
  readonly follows: boolean;
  /** Their own policy for the topic. */
  readonly seen: UserTopic | undefined;
  readonly isSubscribed: boolean;
}

/** Loads whether users would follow the topic if they are mentioned. One round trip. */
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

/** Most users who start to follow a topic because of one message: each takes two writes of its transaction. */
const MAX_FOLLOWING = 40;

/**
 * The mentioned users who start to follow the topic: those with that setting who neither muted nor follow it (wire facts
 * 3.10). Bots never do.
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
