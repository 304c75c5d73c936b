import type { Outside } from '../../kernel/outside.ts';
import { commit } from '../../log/commit.ts';
import type { Log } from '../../log/log.ts';
import { retryOnConflict } from '../../log/retry-on-conflict.ts';
import type { EventEntry, MessageEntry } from '../../log/slot.ts';
import { NOTHING_FOUND } from '../../markdown/found.ts';
import type { Channel } from '../../model/channel/channel.ts';
import { topicConversation } from '../../model/message/conversation.ts';
import { noticeMessage } from '../../model/message/notice.ts';
import { compactReadState } from '../../model/message/read-compact.ts';
import { CROWDED, doMark } from '../../model/message/read-state.ts';
import { doArrive, topicKey } from '../../model/message/topic.ts';
import type { User } from '../../model/user/user.ts';
import { rememberSent, type SendToken, sentKey } from './sent.ts';

/** A topic of a channel. */
export interface Place {
  readonly channel: Channel;
  readonly topic: string;
}

/** What the service says in a topic. */
export interface Notice {
  readonly place: Place;
  /** Markdown, and the channels that it may name. */
  readonly content: string;
  readonly channels: readonly Channel[];
}

/** Who did what a notice tells of, and the bot that tells it. */
export interface Speaking {
  readonly actor: User;
  readonly noticeBotId: number;
}

/** A notice as a message: the bot that speaks for the service says it, naming who did it. `now` is in ms. */
export function noticeEntry(
  { actor, noticeBotId }: Speaking,
  { place: { channel, topic }, content, channels }: Notice,
  now: number,
): MessageEntry {
  const found = {
    ...NOTHING_FOUND,
    usersById: new Map([[actor.userId, { id: actor.userId, fullName: actor.fullName }]]),
    channels: new Map(channels.map(({ channelId: id, name }) => [name, { id, name }])),
  };
  const { channelId } = channel;
  return noticeMessage({ channelId, topic, noticeBotId, content, now }, found);
}

/**
 * Posts a notice once: by its token it is known that it was posted. Where it is no news to whoever did what it tells
 * of, it is read for them from the beginning.
 */
export async function sendNotice(
  outside: Outside,
  log: Log,
  speaking: Speaking,
  notice: Notice,
  token: SendToken,
  isNewsToActor: boolean,
): Promise<void> {
  // Its topic may change meanwhile.
  return retryOnConflict(outside, async () => {
    const { table } = outside;
    const { realm } = log;
    const { channel, topic } = notice.place;
    const { channelId } = channel;
    const { userId } = speaking.actor;
    const senderId = speaking.noticeBotId;
    const conversation = topicConversation(channelId, topic);
    const [sent, stored, count, subscription, state] = await Promise.all([
      table.get(sentKey(realm, senderId, token.echo)),
      table.get(topicKey(realm, { channelId, topic })),
      table.get('channelCount', { realm, channelId }),
      isNewsToActor ? undefined : table.get('subscription', { realm, channelId, userId }),
      isNewsToActor ? undefined : table.get('read', { realm, userId, conversation }),
    ]);
    if (sent !== undefined) return;
    // The topic is gone, and since then the channel takes none with a name.
    if (stored === undefined && topic !== '' && count?.onlyEmptyTopic === true) return;
    if (state !== undefined && (state.added ?? 0) >= CROWDED)
      await compactReadState(outside, realm, userId, state);
    const now = outside.now();
    const day = Math.floor(now / 86_400_000);
    const entry = noticeEntry(speaking, notice, now);
    // For who is not subscribed nothing is unread anyway.
    const marks = subscription !== undefined;
    await commit(log, marks ? 2 : 1, (numbers) => {
      const messageId = numbers[0] as number;
      const arrival = { channelId, topic, messageId, senderId, day, isNotice: true } as const;
      const head = { ...entry.message, id: messageId };
      return {
        writes: [
          ...doArrive(realm, arrival, { topic: stored, takesPart: false, count }),
          rememberSent(realm, senderId, token, messageId, undefined, now),
          ...(marks ? [doMark(realm, userId, head, [messageId], 'read', now)] : []),
        ],
        entries: [entry, ...(marks ? [readEvent(userId, [messageId])] : [])],
        result: undefined,
      };
    });
  });
}

/** Tells somebody's clients that messages are read. */
const readEvent = (userId: number, messages: readonly number[]): EventEntry => ({
  kind: 'event',
  hearers: { users: [userId] },
  payload: { type: 'update_message_flags', op: 'add', operation: 'add', flag: 'read', messages, all: false },
});
