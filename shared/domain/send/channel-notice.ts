import { isId } from '../../kernel/id.ts';
import type { MessageEntry } from '../../log/slot.ts';
import { NOTHING_FOUND } from '../../markdown/found.ts';
import type { Channel, ChannelCount } from '../../model/channel/channel.ts';
import { noticeMessage } from '../../model/message/notice.ts';
import { type Arrival, type CountChange, doArrive, type Topic, topicKey } from '../../model/message/topic.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';

/** The topic in which a channel is told what becomes of it (wire facts 4.7). */
const EVENTS_TOPIC = 'channel events';

/** What a notice to a channel looks at. */
export interface NoticeSnapshot {
  readonly count: ChannelCount | undefined;
  /** The two topics that it may go to, as far as they exist. */
  readonly topics: { readonly events: Topic | undefined; readonly empty: Topic | undefined };
}

/** Reads it in one round trip; a number that no channel can have leads nowhere. */
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

/** Notices that go to a channel together. */
export interface Notices {
  /** The channel as it is when they arrive. */
  readonly channel: Channel;
  /** Markdown. */
  readonly texts: readonly string[];
  /** Who did what they tell of. */
  readonly actor: Pick<User, 'userId' | 'fullName'>;
  readonly noticeBotId: number;
  /** Milliseconds. */
  readonly now: number;
}

/**
 * Posts notices of the service to a channel, in the transaction of what they tell of. A channel that takes only
 * the empty topic gets them there. `numbers` is one for each; `beside` is what else changes of the channel's counts.
 */
export function doNotify(
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
  const found = {
    ...NOTHING_FOUND,
    usersById: new Map([[actor.userId, { id: actor.userId, fullName: actor.fullName }]]),
  };
  const day = Math.floor(now / 86_400_000);
  const arrival: Arrival = {
    channelId,
    topic,
    messageId,
    firstId,
    count: numbers.length,
    senderId: noticeBotId,
    day,
    isNotice: true,
  };
  const state = {
    topic: isEmpty ? snapshot.topics.empty : snapshot.topics.events,
    takesPart: false,
    count: snapshot.count,
  };
  return {
    writes: doArrive(realm, arrival, state, beside),
    entries: texts.map((content) => noticeMessage({ channelId, topic, noticeBotId, content, now }, found)),
  };
}

/** What else changes of the channel's counts, where no notice does. */
function doCount(realm: string, channelId: number, beside: CountChange | undefined): Write[] {
  if (beside === undefined) return [];
  const { when = { absent: false }, ...change } = beside;
  const counts = key('channelCount', { realm, channelId });
  return [change.set || change.remove ? { update: counts, change, when } : { check: counts, when }];
}

/** Names somebody without notifying them. */
export const silently = ({ fullName, userId }: Pick<User, 'userId' | 'fullName'>): string =>
  `@_**${fullName}|${userId}**`;

/** Text that is shown as it is, whatever marks are in it. */
export const verbatim = (text: string): string => `\`${text.replaceAll('`', "'")}\``;
