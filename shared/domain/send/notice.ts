import { isId } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { commit, retryOnConflict } from '../../log/commit.ts';
import type { Log } from '../../log/log.ts';
import type { MessageEntry } from '../../log/slot.ts';
import { NOTHING_RESOLVED, type ResolvedReferences } from '../../markdown/references.ts';
import { render } from '../../markdown/render.ts';
import type { Channel, ChannelCount } from '../../model/channel/channel.ts';
import { topicConversation } from '../../model/message/message.ts';
import { compactReadState, doMark, flagsEvent, MAX_ADDED_IDS } from '../../model/message/read-state.ts';
import {
  type Arrival,
  type CountChange,
  doAddToTopic,
  type Topic,
  topicKey,
} from '../../model/message/topic.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { type SendToken, sentKey, sentWrite } from './send.ts';

/** A topic of a channel. */
export interface NoticeTarget {
  readonly channel: Channel;
  readonly topic: string;
}

/** A notice to post in a topic. */
export interface Notice {
  readonly place: NoticeTarget;
  /** Markdown, and the channels that it may name. */
  readonly content: string;
  readonly channels: readonly Channel[];
  /** The users that it may name beside its author. */
  readonly others?: readonly NamedUser[];
}

type NamedUser = Pick<User, 'userId' | 'fullName'>;

/** The user whose action a notice reports, and the bot that sends it. */
export interface NoticeAuthor {
  readonly actor: NamedUser;
  readonly noticeBotId: number;
}

/** The users and the channels that a notice may name (wire facts 4.7). */
export const noticeReferences = (
  actor: NamedUser,
  channels: readonly Channel[],
  others: readonly NamedUser[] = [],
): ResolvedReferences => ({
  ...NOTHING_RESOLVED,
  usersById: new Map([actor, ...others].map(({ userId: id, fullName }) => [id, { id, fullName }])),
  channels: new Map(channels.map(({ channelId, name }) => [name, { id: channelId, name }])),
});

/** A notice of the notice bot as a message. `now` is in ms. */
export function noticeEntry(
  { actor, noticeBotId }: NoticeAuthor,
  { place: { channel, topic }, content, channels, others }: Notice,
  now: number,
): MessageEntry {
  const { channelId } = channel;
  return {
    kind: 'message',
    message: {
      channelId,
      topic,
      conversation: topicConversation(channelId, topic),
      senderId: noticeBotId,
      timestamp: Math.floor(now / 1000),
      client: 'Internal',
      recipientId: channelId,
      content,
      rendered: render(content, noticeReferences(actor, channels, others)).html,
      isMe: false,
      readBySender: true,
    },
  };
}

/** The topic for notices about the channel itself (wire facts 4.7). */
const EVENTS_TOPIC = 'channel events';

/** The state of a channel before a notice is posted. */
export interface NoticeSnapshot {
  readonly count: ChannelCount | undefined;
  /** The two topics that it may go to, if they exist. */
  readonly topics: { readonly events: Topic | undefined; readonly empty: Topic | undefined };
}

/** Loads it in one round trip; empty for an invalid channel id. */
export async function loadNoticeSnapshot(
  table: Table,
  realm: string,
  channelId: number,
): Promise<NoticeSnapshot> {
  if (!isId(channelId)) return { count: undefined, topics: { events: undefined, empty: undefined } };
  const stored = (topic: string): Promise<Topic | undefined> =>
    table.get(topicKey(realm, { channelId, topic }));
  const [count, events, empty] = await Promise.all([
    table.get('channelCount', { realm, channelId }),
    stored(EVENTS_TOPIC),
    stored(''),
  ]);
  return { count, topics: { events, empty } };
}

/** Notices to post to a channel together. */
interface Notices extends NoticeAuthor {
  /** The channel after the change that they report. */
  readonly channel: Channel;
  /** Markdown. */
  readonly texts: readonly string[];
  /** Milliseconds. */
  readonly now: number;
}

/**
 * Posts notices to a channel, in the transaction of the change that they report. They go to the empty topic if the channel
 * allows no other. `numbers` has one for each; `beside` has other changes of the channel's counts.
 */
export function doPostNotices(
  realm: string,
  { channel, texts, actor, noticeBotId, now }: Notices,
  snapshot: NoticeSnapshot,
  numbers: readonly number[],
  beside?: CountChange,
): { readonly writes: readonly Write[]; readonly entries: readonly MessageEntry[] } {
  const [firstId, messageId] = [numbers[0], numbers.at(-1)];
  const { channelId } = channel;
  if (firstId === undefined || messageId === undefined) {
    return { writes: doCount(realm, channelId, beside), entries: [] };
  }
  const isEmpty = channel.topicsPolicy === 'empty_topic_only';
  const topic = isEmpty ? '' : EVENTS_TOPIC;
  const arrival: Arrival = {
    channelId,
    topic,
    messageId,
    firstId,
    count: numbers.length,
    senderId: noticeBotId,
    day: Math.floor(now / 86_400_000),
    isNotice: true,
  };
  const state = {
    topic: isEmpty ? snapshot.topics.empty : snapshot.topics.events,
    takesPart: false,
    count: snapshot.count,
  };
  return {
    writes: doAddToTopic(realm, arrival, state, beside),
    entries: texts.map((content) =>
      noticeEntry({ actor, noticeBotId }, { place: { channel, topic }, content, channels: [] }, now),
    ),
  };
}

/** Other changes of the channel's counts, without a notice. */
function doCount(realm: string, channelId: number, beside: CountChange | undefined): Write[] {
  if (beside === undefined) return [];
  const { when = { absent: false }, ...change } = beside;
  const counts = key('channelCount', { realm, channelId });
  return [change.set || change.remove ? { update: counts, change, when } : { check: counts, when }];
}

/** A mention that does not notify. */
export const silentMention = ({ fullName, userId }: NamedUser): string => `@_**${fullName}|${userId}**`;

/** A fence for a block with this text: longer than any in it. */
export function fenceAround(text: string): string {
  const marks = [...text.matchAll(/`{3,}/g)].map(([found]) => found.length);
  return '`'.repeat(Math.max(2, ...marks) + 1);
}

/** A text as a quote. Mentions in it are silent. */
export const quoteOf = (text: string, fence = fenceAround(text)): string =>
  [`${fence}quote`, text, fence].join('\n');

/** Text as inline code, so that it is not formatted. */
export const inlineCode = (text: string): string => `\`${text.replaceAll('`', "'")}\``;

/**
 * Posts a notice once, even if called again with the same token. Unless it is news to the actor, it starts as read for
 * them.
 */
export async function postNotice(
  outside: Outside,
  log: Log,
  author: NoticeAuthor,
  notice: Notice,
  token: SendToken,
  isNewsToActor: boolean,
): Promise<void> {
  // The topic may change concurrently.
  return retryOnConflict(outside, async () => {
    const { table } = outside;
    const { realm } = log;
    const { channel, topic } = notice.place;
    const { channelId } = channel;
    const { userId } = author.actor;
    const senderId = author.noticeBotId;
    const conversation = topicConversation(channelId, topic);
    const [sent, stored, count, subscription, state] = await Promise.all([
      table.get(sentKey(realm, senderId, token.echo)),
      table.get(topicKey(realm, { channelId, topic })),
      table.get('channelCount', { realm, channelId }),
      isNewsToActor ? undefined : table.get('subscription', { realm, channelId, userId }),
      isNewsToActor ? undefined : table.get('read', { realm, userId, conversation }),
    ]);
    if (sent !== undefined) return;
    // The topic no longer exists, and the channel no longer allows named topics.
    if (stored === undefined && topic !== '' && count?.onlyEmptyTopic === true) return;
    if (state !== undefined && (state.added ?? 0) >= MAX_ADDED_IDS)
      await compactReadState(outside, realm, author.actor, state);
    const now = outside.now();
    const day = Math.floor(now / 86_400_000);
    const entry = noticeEntry(author, notice, now);
    // Nothing is unread without a subscription.
    const marks = subscription !== undefined;
    await commit(log, marks ? 2 : 1, (numbers) => {
      const messageId = numbers[0] as number;
      const arrival = { channelId, topic, messageId, senderId, day, isNotice: true } as const;
      const head = { ...entry.message, id: messageId };
      return {
        writes: [
          ...doAddToTopic(realm, arrival, { topic: stored, takesPart: false, count }),
          sentWrite(realm, senderId, token, messageId, undefined, now),
          ...(marks ? [doMark(realm, userId, head, [messageId], 'read', now)] : []),
        ],
        entries: [entry, ...(marks ? [flagsEvent(userId, 'add', 'read', [messageId])] : [])],
        result: undefined,
      };
    });
  });
}
