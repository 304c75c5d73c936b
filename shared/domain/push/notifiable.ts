import { folded } from '../../kernel/folding.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { MessageSlot } from '../../log/slot.ts';
import type { Channel, Subscription } from '../../model/channel/channel.ts';
import { cameTo } from '../../model/message/access.ts';
import type { UserTopic } from '../../model/message/user-topic.ts';
import { visibility } from '../../model/message/visibility.ts';
import { type Caller, loadCaller } from '../../model/user/caller.ts';
import { settingsOf, type UserSettings } from '../../model/user/settings.ts';
import { loadPresence, seconds } from '../presence/presence.ts';
import { OFFLINE } from '../presence/presence-object.ts';
import { Reader } from '../reader/reader.ts';

/** Somebody whom a message is for, and why they are notified of it. */
export interface Notified {
  readonly caller: Caller;
  readonly channel: Channel | undefined;
  /** The group that was mentioned, where it is for its sake. */
  readonly groupId?: number;
}

/** What decides whether somebody is notified of a message. */
interface Snapshot {
  readonly caller: Caller;
  readonly settings: UserSettings;
  readonly subscription: Subscription | undefined;
  readonly policy: UserTopic['policy'];
  /** They followed the topic when the message came, as far as is known. */
  readonly isFollowed: boolean;
  readonly takesPart: boolean;
  readonly isOnline: boolean;
}

/**
 * Decides whether somebody is to be notified of a message, by their own settings: of direct messages, of mentions, and
 * in topics that they follow. What does not come to them notifies them of nothing; nor does anything while they are
 * here, unless they want that. Undefined where they are not. One round trip.
 */
export async function accessNotified(
  outside: Outside,
  realm: string,
  message: MessageSlot,
  userId: number,
): Promise<Notified | undefined> {
  const { table, now } = outside;
  const { channelId, topic = '' } = message;
  const reader = new Reader(outside, realm, userId);
  const [caller, settings, presence, comes, seen, userTopic, takesPart] = await Promise.all([
    loadCaller(outside, realm, userId, undefined),
    table.get('settings', { realm, userId }),
    loadPresence(table, realm, userId, seconds(now())),
    cameTo(reader, message),
    channelId === undefined ? undefined : reader.seen(channelId),
    channelId === undefined
      ? undefined
      : table.get('userTopic', { realm, userId, channelId, topic: folded(topic) }),
    message.mentions?.topic === true && channelId !== undefined && reader.takesPart(channelId, topic),
  ]);
  if (caller === undefined || caller.user.isBot || !comes) return undefined;
  const active = presence.last?.active;
  const why = reasonFor(message, {
    caller,
    settings: settingsOf(settings),
    subscription: seen?.subscription,
    policy: userTopic?.policy ?? visibility.inherit,
    isFollowed: userTopic?.policy === visibility.followed && (userTopic.changed ?? 0) <= message.id,
    takesPart,
    isOnline: active !== undefined && seconds(now()) - active <= OFFLINE,
  });
  return why && { caller, channel: seen?.channel, ...why };
}

/** Why somebody is notified, in the order in which reasons count; undefined where there is none. */
function reasonFor(message: MessageSlot, snapshot: Snapshot): { readonly groupId?: number } | undefined {
  const { caller, settings, subscription, policy, isFollowed, takesPart, isOnline } = snapshot;
  const wants = (setting: string): boolean => settings[setting] === true;
  if (isOnline && !wants('enable_online_push_notifications')) return undefined;
  const { mentions = {}, people } = message;
  if (wants('enable_offline_push_notifications')) {
    if (people !== undefined || mentions.users?.includes(caller.user.userId)) return {};
    const groupId = mentions.groups?.find((id) => caller.standing.groups.has(id));
    if (groupId !== undefined) return { groupId };
    const isForAll = mentions.channel === true || (mentions.topic === true && takesPart);
    const isMuted =
      policy === visibility.muted || (policy === visibility.inherit && subscription?.isMuted === true);
    const wantsWildcards = subscription?.wildcardMentionsNotify ?? wants('wildcard_mentions_notify');
    if (isForAll && wantsWildcards && !isMuted) return {};
    if (isForAll && isFollowed && wants('enable_followed_topic_wildcard_mentions_notify')) return {};
  }
  return isFollowed && wants('enable_followed_topic_push_notifications') ? {} : undefined;
}
