import { badRequest } from '../../kernel/errors.ts';
import { checkPrintable, codePoints, digestOf, firstCodePoints, folded } from '../../kernel/text.ts';
import { uniqueSorted } from '../../lists.ts';
import type { Mentions, Message, MessageHead } from '../../log/message.ts';
import type { Audience, MessageSlot } from '../../log/slot.ts';
import type { Rendered } from '../../markdown/render.ts';
import { conversationOf, type Key, key } from '../../table/keys.ts';
import type { Condition } from '../../table/write.ts';
import { type ChannelWithSubscription, mayReadMessage } from '../channel/access.ts';
import type { Subscription } from '../channel/channel.ts';
import type { Standing } from '../permission/permission.ts';
import { EMPTY_TOPIC_NAME, limits } from '../realm/realm.ts';

/** Direct conversations with more people are named by a digest, since the length of a key is limited. */
const MAX_LISTED_PEOPLE = 40;

/** The conversation of a topic; the case of its name does not matter. */
export const topicConversation = (channelId: number, topic: string): string =>
  conversationOf.topic(channelId, folded(topic));

/** The channel of a topic's conversation; undefined for a direct one. */
function channelOfConversation(conversation: string): number | undefined {
  const channelId = /^topic:(\d+):/.exec(conversation)?.[1];
  return channelId === undefined ? undefined : Number(channelId);
}

/** Whether two topics are the same, ignoring case. */
export const isSameTopic = (
  one: { readonly channelId: number; readonly topic: string },
  other: { readonly channelId: number; readonly topic: string },
): boolean => one.channelId === other.channelId && folded(one.topic) === folded(other.topic);

/** The direct conversation of these people, in any order; duplicates do not matter. */
export function directConversation(people: readonly number[]): string {
  const ids = uniqueSorted(people).join(',');
  if (people.length <= MAX_LISTED_PEOPLE) return conversationOf.direct(ids);
  return conversationOf.direct(digestOf(ids));
}

export const messageKey = (realm: string, id: number): Key<'slot'> => key('slot', { realm, seq: id });

/** The condition that a message still exists in the same conversation. */
export const unmoved = ({ conversation }: Pick<MessageSlot, 'conversation'>): Condition => ({
  equals: { kind: 'message', conversation },
});

/** The condition that a message was neither edited nor moved since it was read. */
export const unchanged = (message: MessageSlot): Condition => ({
  equals: { ...unmoved(message).equals, revision: message.revision },
});

type Location = Pick<MessageHead, 'conversation' | 'readIn' | 'channelId'>;

/**
 * The conversation whose read states hold a message. A move within the channel does not change it. Earlier releases
 * kept it across channels too; there the present conversation decides.
 */
export const readConversationOf = ({ conversation, readIn, channelId }: Location): string =>
  readIn !== undefined && channelOfConversation(readIn) === channelId ? readIn : conversation;

/** Where a message stands after a move. In another channel it is read or unread by the read states there. */
export function locationAfter(
  message: Location,
  { channelId, topic }: { readonly channelId: number; readonly topic: string },
): Required<Location> & { readonly topic: string } {
  const conversation = topicConversation(channelId, topic);
  const readIn = message.channelId === channelId ? readConversationOf(message) : conversation;
  return { channelId, topic, conversation, readIn };
}

/** The users, groups and wildcards that a rendered message mentions; undefined if there are none. */
export function mentionsIn(rendered: Rendered, isChannel: boolean): Mentions | undefined {
  const mentions: Mentions = {
    ...(rendered.mentionedUserIds.length > 0 && { users: rendered.mentionedUserIds }),
    ...(rendered.mentionedGroupIds.length > 0 && { groups: rendered.mentionedGroupIds }),
    // Wildcards have no effect in a direct conversation.
    ...(isChannel && rendered.channelWildcard && { channel: true as const }),
    ...(isChannel && rendered.topicWildcard && { topic: true as const }),
  };
  return Object.keys(mentions).length === 0 ? undefined : mentions;
}

/** What the flags of a message depend on for one user. */
export interface Viewer {
  readonly userId: number;
  /** All groups that they are in, directly or through subgroups (`Standing.groups`). */
  readonly groups: ReadonlySet<number>;
  /** They received it: a direct message, or one of a channel that they were subscribed to at the time. */
  readonly received: boolean;
  /** They sent to the topic or reacted in it. Used only if the message has a topic wildcard. */
  readonly takesPart: boolean;
  readonly read: boolean;
  readonly starred: boolean;
  /** Its text holds one of their alert words. */
  readonly alerted: boolean;
}

/**
 * The flags of a message for one user, in fetches and events (wire facts 14.3). A message that they did not receive
 * is `historical`, counts as read, and has no mention flags.
 */
export function messageFlags(message: Pick<Message, 'senderId' | 'mentions'>, viewer: Viewer): string[] {
  const { received, read, starred } = viewer;
  const flags: string[] = [];
  if (read || !received) flags.push('read');
  if (starred) flags.push('starred');
  if (!received) return [...flags, 'historical'];
  const { mentions } = message;
  const byChannel = mentions?.channel === true;
  const byTopic = mentions?.topic === true && (viewer.takesPart || message.senderId === viewer.userId);
  if (viewer.alerted) flags.push('has_alert_word');
  if (isMentioned(message, viewer)) flags.push('mentioned');
  if (byChannel) flags.push('stream_wildcard_mentioned');
  if (byTopic) flags.push('topic_wildcard_mentioned');
  // Older clients know only this flag for both wildcards.
  if (byChannel || byTopic) flags.push('wildcard_mentioned');
  return flags;
}

/** Whether the message mentions this user by name or through a group. */
export const isMentioned = (
  { mentions }: Pick<Message, 'mentions'>,
  { userId, groups }: Pick<Viewer, 'userId' | 'groups'>,
): boolean =>
  mentions?.users?.includes(userId) === true || mentions?.groups?.some((id) => groups.has(id)) === true;

/** Loads a reader's access to channels on demand; see `domain/reader`. */
interface Facts {
  readonly userId: number;
  subscription(channelId: number): Promise<Subscription | undefined>;
  channel(channelId: number): Promise<ChannelWithSubscription | undefined>;
}

/** Whether a user takes part in the direct conversation, or was subscribed to the channel before the message. */
export const isReceived = (
  userId: number,
  { id, channelId, people }: MessageHead,
  subscription: Pick<Subscription, 'since'> | undefined,
): boolean =>
  channelId === undefined
    ? people?.includes(userId) === true
    : subscription !== undefined && id > subscription.since;

/** The same for a reader. */
export const hasReceived = async (reader: Facts, head: MessageHead): Promise<boolean> =>
  isReceived(
    reader.userId,
    head,
    head.channelId === undefined ? undefined : await reader.subscription(head.channelId),
  );

/** Whether the reader may read a message now: one they received, or in a channel whose history they can read. */
export async function mayRead(reader: Facts, standing: Standing, head: MessageHead): Promise<boolean> {
  if (await hasReceived(reader, head)) return true;
  const seen = head.channelId === undefined ? undefined : await reader.channel(head.channelId);
  return seen !== undefined && mayReadMessage(standing, seen, head.id);
}

/** The audience of events about a message: the people of its conversation. */
export const audienceOf = ({
  id,
  channelId,
  people,
}: Pick<Message, 'id' | 'channelId' | 'people'>): Audience =>
  channelId === undefined ? { message: id, users: people ?? [] } : { message: id, channel: channelId };

type OfMessage = Extract<Audience, { readonly message: number; readonly channel: number }>;

/** The channels whose subscriptions decide who is in an audience. */
export function audienceChannels(hearers: Audience): number[] {
  if (!('channel' in hearers)) return [];
  if ('movedTo' in hearers) return [hearers.channel, hearers.movedTo];
  if ('goneTo' in hearers) return [hearers.channel, hearers.goneTo];
  return [hearers.channel];
}

/**
 * Whether an event about a channel message is visible: the user must be subscribed and able to read it. When it moves to
 * another channel, users who may read it there get the move; the others get a deletion (`goneTo`).
 */
export function receivesMessageEvent(
  who: Standing,
  hearers: OfMessage,
  channels: ReadonlyMap<number, ChannelWithSubscription>,
  seq: number,
): boolean {
  const seen = channels.get(hearers.channel);
  const mayReadIn = (channelId: number): boolean => {
    const place = channels.get(channelId);
    return place !== undefined && mayReadMessage(who, place, hearers.message);
  };
  if ('movedTo' in hearers) {
    return (
      (isSubscribedBefore(seen, seq) || isSubscribedBefore(channels.get(hearers.movedTo), seq)) &&
      mayReadIn(hearers.movedTo)
    );
  }
  const isVisible =
    isSubscribedBefore(seen, seq) &&
    (seen?.channel.historyPublicToSubscribers === true || isSubscribedBefore(seen, hearers.message));
  return isVisible && !('goneTo' in hearers && mayReadIn(hearers.goneTo));
}

/** Whether a moved message comes from a channel where the user could not read it, so its old location is left out. */
export function isFromHiddenChannel(
  who: Standing,
  hearers: Audience,
  channels: ReadonlyMap<number, ChannelWithSubscription>,
): boolean {
  if (!('movedTo' in hearers)) return false;
  const seen = channels.get(hearers.channel);
  return seen === undefined || !mayReadMessage(who, seen, hearers.message);
}

/** Whether the subscription began before this log number. */
export const isSubscribedBefore = (seen: ChannelWithSubscription | undefined, seq: number): boolean =>
  seen?.subscription !== undefined && seen.subscription.since < seq;

/** Appended to content that was truncated. */
const CUT_MESSAGE = '\n[message cut at the length limit]';
const CUT_TOPIC = '...';

/** Truncates a text to a number of code points, the mark included. */
const cut = (text: string, limit: number, mark: string): string =>
  codePoints(text) <= limit ? text : firstCodePoints(text, limit - codePoints(mark)) + mark;

/**
 * Message content as it is stored (wire facts 3.4): without trailing white space and leading newlines, truncated at the
 * limit. Leading spaces stay, since they can start a code block.
 */
export const normalizedContent = (content: string): string => contentWithin(content, limits.message);

/** The same with a smaller limit in code points, where other text is added. */
export const contentWithin = (content: string, limit: number): string =>
  cut(content.trimEnd().replace(/^[\r\n]+/, ''), limit, CUT_MESSAGE);

/** Refuses empty content. */
export function checkContent(content: string): void {
  if (content === '') throw badRequest('A message must not be empty.');
}

/**
 * A topic as it is stored (wire facts 3.4): trimmed, truncated at the limit, and empty for both names of the empty topic.
 * Unprintable characters are refused with their position.
 */
export function checkTopic(name: string): string {
  const topic = name.trim();
  checkPrintable('The topic', topic);
  const stored = cut(topic, limits.topic, CUT_TOPIC);
  return stored === '(no topic)' || stored === EMPTY_TOPIC_NAME ? '' : stored;
}

/** The same for the name of an existing topic: one that is too long is refused. */
export function checkTopicName(name: string): string {
  if (codePoints(name.trim()) > limits.topic) {
    throw badRequest(`A topic has at most ${limits.topic} characters.`);
  }
  return checkTopic(name);
}

/** How the name of a resolved topic begins. */
export const RESOLVED_PREFIX = '✔ ';
export const isResolved = (topic: string): boolean => topic.startsWith(RESOLVED_PREFIX);
