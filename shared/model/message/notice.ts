import type { MessageEntry } from '../../log/slot.ts';
import type { ResolvedReferences } from '../../markdown/found.ts';
import { render } from '../../markdown/render.ts';
import { topicConversation } from './conversation.ts';

/** What the bot that speaks for the service says in a topic. */
export interface Said {
  readonly channelId: number;
  readonly topic: string;
  readonly noticeBotId: number;
  /** Markdown. */
  readonly content: string;
  /** Milliseconds. */
  readonly now: number;
}

/** A notice as a message to a channel; `found` are the names that it may use (wire facts 4.7). */
export function noticeMessage(
  { channelId, topic, noticeBotId, content, now }: Said,
  found: ResolvedReferences,
): MessageEntry {
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
      rendered: render(content, found).html,
      isMe: false,
      readBySender: true,
    },
  };
}
