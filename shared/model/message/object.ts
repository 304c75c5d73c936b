import type { Message, Revision } from '../../log/message.ts';
import type { Linkifiers } from '../../markdown/linkifier-engine.ts';
import type { Channel } from '../channel/channel.ts';
import { EMPTY_TOPIC_NAME, type HistoryVisibility } from '../realm/realm.ts';
import { avatarUrlFor } from '../user/object.ts';
import type { User } from '../user/user.ts';
import type { ReactionObject } from './reaction.ts';

/** How a client wants messages rendered. */
export interface RenderOptions {
  /** Rendered HTML, or the Markdown as it was sent. */
  readonly applyMarkdown: boolean;
  /** The client supports the empty topic name. */
  readonly emptyTopicName: boolean;
  /** The client computes Gravatar URLs itself; default true. */
  readonly clientGravatar?: boolean;
}

/** What a message object needs besides the stored message. */
export interface MessageNames {
  /** Name of the channel, for channel messages. */
  readonly channelName?: string;
  /** Users by id: the sender, and the people of a direct message. */
  readonly users: ReadonlyMap<number, User>;
  /** The organization's subdomain. */
  readonly realmStringId: string;
  /** The organization's policy for edit history. */
  readonly historyVisibility: HistoryVisibility;
  /** The organization's linkifiers, for topics. */
  readonly linkifiers?: Linkifiers | undefined;
  /** The reader is a guest, who sees less history. */
  readonly isGuest: boolean;
}

/** The message object (wire facts 14.4), without flags. `reactions` and `submessages` are in display order. */
export function messageObject(
  message: Message,
  names: MessageNames,
  options: RenderOptions,
  reactions: ReactionObject[],
  submessages: readonly Submessage[],
) {
  const sender = names.users.get(message.senderId);
  const isChannel = message.channelId !== undefined;
  const topic = message.topic ?? '';
  const readable = readableHistory(message.history, names.isGuest);
  const history = visibleHistory(readable, names.historyVisibility);
  return {
    id: message.id,
    type: isChannel ? ('stream' as const) : ('private' as const),
    sender_id: message.senderId,
    sender_email: sender?.email ?? '',
    sender_full_name: sender?.fullName ?? '',
    sender_realm_str: names.realmStringId,
    avatar_url: sender === undefined ? null : avatarUrlFor(sender, options.clientGravatar),
    recipient_id: message.recipientId,
    timestamp: message.timestamp,
    client: message.client,
    subject: isChannel ? topicName(topic, options) : topic,
    topic_links: topicLinks(topic, names.linkifiers),
    display_recipient: isChannel
      ? (names.channelName ?? '')
      : (message.people ?? []).map((id) => personOf(id, names.users.get(id))),
    ...(isChannel && { stream_id: message.channelId }),
    content: options.applyMarkdown ? message.rendered : message.content,
    content_type: options.applyMarkdown ? ('text/html' as const) : ('text/x-markdown' as const),
    is_me_message: message.isMe,
    reactions,
    submessages: submessages.map((each) => submessageObject(message.id, each)),
    ...(message.edited !== undefined && { last_edit_timestamp: message.edited }),
    ...(message.moved !== undefined && { last_moved_timestamp: message.moved }),
    ...(history.length > 0 && {
      edit_history: history.map((revision) => revisionObject(revision, options)),
    }),
  };
}

/** A topic as the client shows it. */
export const topicName = (
  topic: string,
  { emptyTopicName }: Pick<RenderOptions, 'emptyTopicName'>,
): string => (topic === '' && !emptyTopicName ? EMPTY_TOPIC_NAME : topic);

/** A revision in `edit_history`: who changed what and when, and the former state if the message keeps it. */
export const revisionObject = (
  { userId, timestamp, topic, channel, before }: Revision,
  options: Pick<RenderOptions, 'emptyTopicName'>,
) => ({
  user_id: userId,
  timestamp,
  ...(before && { prev_content: before.content, prev_rendered_content: before.rendered }),
  ...(topic && { topic: topicName(topic.to, options), prev_topic: topicName(topic.from, options) }),
  ...(channel && { stream: channel.to, prev_stream: channel.from }),
});

const personOf = (id: number, user: User | undefined) => ({
  id,
  email: user?.email ?? '',
  full_name: user?.fullName ?? '',
  is_mirror_dummy: false,
});

/** Who can read a channel without a subscription: members, or guests too. */
export type OpenTo = NonNullable<NonNullable<Revision['channel']>['openTo']>;

/** The same for a channel now; undefined for a private one. */
export function openTo({
  isPrivate,
  isWebPublic,
}: Pick<Channel, 'isPrivate' | 'isWebPublic'>): OpenTo | undefined {
  if (isWebPublic) return 'everyone';
  return isPrivate ? undefined : 'members';
}

/**
 * The revisions of a message, newest first, back to its last move from a channel that such a reader could not read without
 * a subscription. Subscribers of both channels do not get older ones either: checking would take another round trip for
 * each message.
 */
export function readableHistory(history: readonly Revision[] = [], isGuest: boolean): readonly Revision[] {
  const closed = history.findIndex(
    ({ channel }) =>
      channel !== undefined && channel.openTo !== 'everyone' && (isGuest || channel.openTo !== 'members'),
  );
  return closed < 0 ? history : history.slice(0, closed);
}

/**
 * The revisions that the organization shows (`message_edit_history_visibility_policy`): all, none, or moves without
 * their content changes.
 */
export function visibleHistory(
  history: readonly Revision[] | undefined,
  visibility: HistoryVisibility,
): readonly Revision[] {
  if (visibility === 'none') return [];
  if (visibility === 'all') return history ?? [];
  return (history ?? []).flatMap(({ content: _, before: __, ...move }) =>
    move.topic || move.channel ? [move] : [],
  );
}

/** A URL in a topic, which clients show beside it. */
export interface TopicLink {
  readonly text: string;
  readonly url: string;
}

const PART = /[^\s!;,'"()<>]+/g;

/**
 * The links in a topic, in the order of their positions: those of the linkifiers, and URLs between them (companion facts 4.1,
 * wire facts 14.4). URLs must have a scheme.
 */
export function topicLinks(topic: string, linkifiers?: Linkifiers): TopicLink[] {
  const linked = linkifiers?.linksIn(topic) ?? [];
  if (linked.length === 0 && !topic.includes('://')) return [];
  const urls = [...topic.matchAll(PART)].flatMap(({ 0: url, index: start }) => {
    const end = start + url.length;
    const isFree = linked.every((link) => link.end <= start || end <= link.start);
    return isFree && /^https?:\/\/[^/]/i.test(url) && URL.canParse(url) ? [{ start, end, url }] : [];
  });
  return [...linked, ...urls]
    .sort((a, b) => a.start - b.start)
    .map(({ start, end, url }) => ({ text: topic.slice(start, end), url }));
}

/*
 * Submessages carry the state of widgets (polls and to-do lists). They are attributes of the message, so that a fetch
 * reads nothing more and two people who vote at once do not overwrite each other. The first one of a poll or list is
 * stored with the send (`widget`). Each later one is an attribute named by the log number of its event. The name has a
 * slash, so a deleted message that late clients still get has none of these: their events follow it.
 */

/** Data that somebody attached to a message: JSON text. */
export interface Submessage {
  /** The log number of its event; of the first one of a widget, that of the message. */
  readonly id: number;
  readonly senderId: number;
  readonly content: string;
}

/** The stored value of a later submessage. */
type StoredSubmessage = Omit<Submessage, 'id'>;

const PREFIX = 'submessage/';

/** The attribute of a message that holds the submessage with this log number. */
export const submessageAttribute = (id: number): string => `${PREFIX}${id}`;

/** The submessage that was stored with the send, if the message is a poll or a to-do list. */
export const submessagesOnSend = ({ id, senderId, widget }: Message): Submessage[] =>
  widget === undefined ? [] : [{ id, senderId, content: widget }];

/** The submessages that came after the send, oldest first. */
export const laterSubmessages = (message: Message): Submessage[] =>
  Object.keys(message)
    .filter((attribute) => attribute.startsWith(PREFIX))
    .map((attribute) => ({
      ...((message as object as Readonly<Record<string, StoredSubmessage>>)[attribute] as StoredSubmessage),
      id: Number(attribute.slice(PREFIX.length)),
    }))
    .sort((a, b) => a.id - b.id);

/** All submessages of a message, oldest first. */
export const allSubmessages = (message: Message): Submessage[] => [
  ...submessagesOnSend(message),
  ...laterSubmessages(message),
];

/** A submessage as clients and archives see it (companion facts 4.8). */
export const submessageObject = (messageId: number, { id, senderId, content }: Submessage) => ({
  id,
  message_id: messageId,
  sender_id: senderId,
  msg_type: 'widget' as const,
  content,
});
