import { createHash } from 'node:crypto';
import { badRequest } from '../../kernel/errors.ts';
import { codePoints, firstCodePoints, folded } from '../../kernel/folding.ts';
import { checkPrintable } from '../../kernel/printable.ts';
import type { Mentions, Message, MessageHead } from '../../log/message.ts';
import type { Audience, MessageSlot } from '../../log/slot.ts';
import type { Rendered } from '../../markdown/render.ts';
import { conversationOf, type Key, key } from '../../table/keys.ts';
import type { Condition } from '../../table/write.ts';
import { uniqueSorted } from '../../unique.ts';
import { type ChannelWithSubscription, mayReadMessage } from '../channel/access.ts';
import type { Subscription } from '../channel/channel.ts';
import type { Standing } from '../permission/permission.ts';
import { EMPTY_TOPIC_NAME, limits } from '../realm/realm.ts';

/** People beyond this many make the name of their conversation a digest: keys have a limit. */
const MAX_LISTED_PEOPLE = 40;

/** The conversation that a topic of a channel is, whatever the case of its spelling. */
export const topicConversation = (channelId: number, topic: string): string =>
  conversationOf.topic(channelId, folded(topic));

/** The channel of a conversation that is a topic. */
export function channelOfConversation(conversation: string): number | undefined {
  const channelId = /^topic:(\d+):/.exec(conversation)?.[1];
  return channelId === undefined ? undefined : Number(channelId);
}

/** Whether two places are one topic, perhaps in other spellings. */
export const isSameTopic = (
  one: { readonly channelId: number; readonly topic: string },
  other: { readonly channelId: number; readonly topic: string },
): boolean => one.channelId === other.channelId && folded(one.topic) === folded(other.topic);

/** The conversation of these people. The order and repetitions do not matter. */
export function directConversation(people: readonly number[]): string {
  const ids = uniqueSorted(people).join(',');
  if (people.length <= MAX_LISTED_PEOPLE) return conversationOf.direct(ids);
  return conversationOf.direct(createHash('sha256').update(ids).digest('hex'));
}

export const messageKey = (realm: string, id: number): Key<'slot'> => key('slot', { realm, seq: id });

/** Holds a change of a message to what was seen: it is still there, and in the same conversation. */
export const unmoved = ({ conversation }: Pick<MessageSlot, 'conversation'>): Condition => ({
  equals: { kind: 'message', conversation },
});

/** The same for a change that must know all of its earlier versions: nobody else edited or moved it meanwhile. */
export const unchanged = (message: MessageSlot): Condition => ({
  equals: { ...unmoved(message).equals, revision: message.revision },
});

/** The conversation in whose read states a message stands: a move does not change it. */
export const readConversationOf = ({
  conversation,
  readIn,
}: Pick<MessageHead, 'conversation' | 'readIn'>): string => readIn ?? conversation;

/** The channel in whose topics a message stands in read states, where it moved to another one since. */
export function formerChannelOf({
  readIn,
  channelId,
}: Pick<MessageHead, 'readIn' | 'channelId'>): number | undefined {
  const former = readIn === undefined ? undefined : channelOfConversation(readIn);
  return former === channelId ? undefined : former;
}

/** Whom a rendered message addresses; undefined where it addresses nobody. */
export function mentionsIn(rendered: Rendered, isChannel: boolean): Mentions | undefined {
  const mentions: Mentions = {
    ...(rendered.mentionedUserIds.length > 0 && { users: rendered.mentionedUserIds }),
    ...(rendered.mentionedGroupIds.length > 0 && { groups: rendered.mentionedGroupIds }),
    // In a direct conversation everybody is addressed anyway.
    ...(isChannel && rendered.channelWildcard && { channel: true as const }),
    ...(isChannel && rendered.topicWildcard && { topic: true as const }),
  };
  return Object.keys(mentions).length === 0 ? undefined : mentions;
}

/** What a message is to one person, as far as its flags need it. */
export interface Viewer {
  readonly userId: number;
  /** Every group they are in, however deep (`Standing.groups`). */
  readonly groups: ReadonlySet<number>;
  /** It came to them: a direct message, or one of a channel that they were subscribed to at the time. */
  readonly received: boolean;
  /** They sent to the topic or reacted in it. Matters only where the message has a topic wildcard. */
  readonly takesPart: boolean;
  readonly read: boolean;
  readonly starred: boolean;
}

/**
 * The flags of a message for one person, for fetches and for events alike (wire facts 14.3). What did not come to
 * them is `historical`, counts as read, and addressed nobody.
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
  if (isMentioned(message, viewer)) flags.push('mentioned');
  if (byChannel) flags.push('stream_wildcard_mentioned');
  if (byTopic) flags.push('topic_wildcard_mentioned');
  // The one flag of both wildcards, for clients that know no other.
  if (byChannel || byTopic) flags.push('wildcard_mentioned');
  return flags;
}

/** Whether the message mentions this person by name or by one of their groups. */
export const isMentioned = (
  { mentions }: Pick<Message, 'mentions'>,
  { userId, groups }: Pick<Viewer, 'userId' | 'groups'>,
): boolean =>
  mentions?.users?.includes(userId) === true || mentions?.groups?.some((id) => groups.has(id)) === true;

/** What is known of a person who wants to read. `domain/reader` reads it when it is asked for. */
interface Facts {
  readonly userId: number;
  subscription(channelId: number): Promise<Subscription | undefined>;
  channel(channelId: number): Promise<ChannelWithSubscription | undefined>;
}

/**
 * Whether a message came to the reader: it is a direct one between them and others, or one of a channel that they
 * have been subscribed to since before it.
 */
export async function hasReceived(reader: Facts, { id, channelId, people }: MessageHead): Promise<boolean> {
  if (channelId === undefined) return people?.includes(reader.userId) === true;
  const subscription = await reader.subscription(channelId);
  return subscription !== undefined && id > subscription.since;
}

/**
 * Whether the reader may read a message, as things are now: what came to them, and the history of channels that
 * they can read. Who administers the organization may read no more than others.
 */
export async function mayRead(reader: Facts, standing: Standing, head: MessageHead): Promise<boolean> {
  if (await hasReceived(reader, head)) return true;
  const seen = head.channelId === undefined ? undefined : await reader.channel(head.channelId);
  return seen !== undefined && mayReadMessage(standing, seen, head.id);
}

/** Who hears what happens to a message: those who take part in its conversation. */
export const audienceOf = ({
  id,
  channelId,
  people,
}: Pick<Message, 'id' | 'channelId' | 'people'>): Audience =>
  channelId === undefined ? { message: id, users: people ?? [] } : { message: id, channel: channelId };

type OfMessage = Extract<Audience, { readonly message: number; readonly channel: number }>;

/** The channels that decide who hears of something. */
export function audienceChannels(hearers: Audience): number[] {
  if (!('channel' in hearers)) return [];
  if ('movedTo' in hearers) return [hearers.channel, hearers.movedTo];
  if ('goneTo' in hearers) return [hearers.channel, hearers.goneTo];
  return [hearers.channel];
}

/**
 * Whether a listener hears what happens to a message of a channel: who is subscribed, and may read it. When it
 * leaves for another channel, those hear of that who may read it there; the others only that it is gone.
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
  const hears =
    isSubscribedBefore(seen, seq) &&
    (seen?.channel.historyPublicToSubscribers === true || isSubscribedBefore(seen, hearers.message));
  return hears && !('goneTo' in hearers && mayReadIn(hearers.goneTo));
}

/**
 * Whether an event tells a listener who hears of it where a message came from that they could not read there: what it
 * says of that place is not for them.
 */
export function isFromHiddenChannel(
  who: Standing,
  hearers: Audience,
  channels: ReadonlyMap<number, ChannelWithSubscription>,
): boolean {
  if (!('movedTo' in hearers)) return false;
  const seen = channels.get(hearers.channel);
  return seen === undefined || !mayReadMessage(who, seen, hearers.message);
}

/** Whether the listener's subscription began before this number. */
export const isSubscribedBefore = (seen: ChannelWithSubscription | undefined, seq: number): boolean =>
  seen?.subscription !== undefined && seen.subscription.since < seq;

/** Stands at the end of a message that was cut at the limit. */
const CUT_MESSAGE = '\n[message cut at the length limit]';
const CUT_TOPIC = '...';

/** The first code points of a text that is too long, ending in a mark, so that the whole is as long as allowed. */
const cut = (text: string, limit: number, mark: string): string =>
  codePoints(text) <= limit ? text : firstCodePoints(text, limit - codePoints(mark)) + mark;

/**
 * Message content as it is stored (wire facts 3.4): white space at the end and newlines at the start go, what is
 * beyond the limit is cut. Spaces at the start stay, since they can mean a code block.
 */
export const normalizedContent = (content: string): string => contentWithin(content, limits.message);

/** The same in no more than so many code points, where something else has to stand beside it. */
export const contentWithin = (content: string, limit: number): string =>
  cut(content.trimEnd().replace(/^[\r\n]+/, ''), limit, CUT_MESSAGE);

/** Decides that normalized content says something. */
export function checkContent(content: string): void {
  if (content === '') throw badRequest('A message must not be empty.');
}

/**
 * A topic as it is stored (wire facts 3.4): trimmed, cut at the limit, and with the two names of the empty topic
 * read as the empty one. A character that cannot be shown is refused with its position.
 */
export function checkTopic(given: string): string {
  const topic = given.trim();
  checkPrintable('The topic', topic);
  const fitting = cut(topic, limits.topic, CUT_TOPIC);
  return fitting === '(no topic)' || fitting === EMPTY_TOPIC_NAME ? '' : fitting;
}

/** The same for a topic that is named and not written to: what is too long is no topic, and refused. */
export function checkTopicName(given: string): string {
  if (codePoints(given.trim()) > limits.topic) {
    throw badRequest(`A topic has at most ${limits.topic} characters.`);
  }
  return checkTopic(given);
}

/** How the name of a resolved topic begins. */
export const RESOLVED_PREFIX = '✔ ';
export const isResolved = (topic: string): boolean => topic.startsWith(RESOLVED_PREFIX);
