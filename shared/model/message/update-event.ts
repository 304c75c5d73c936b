import type { Message, MessageHead } from '../../log/message.ts';
import type { EventEntry, Payload } from '../../log/slot.ts';
import { topicConversation } from './conversation.ts';
import { readPlaceOf } from './head.ts';
import { hearersOf } from './hearers.ts';
import { mentionsIn } from './mentions.ts';
import type { Relocation, Rewrite } from './revision.ts';
import { topicLinks } from './topic-links.ts';

/** What an update changed. */
export interface Updated {
  readonly userId: number;
  /** Milliseconds. */
  readonly now: number;
  readonly rewrite?: Rewrite | undefined;
  readonly relocation?: Relocation | undefined;
  readonly mode?: 'change_one' | 'change_later' | 'change_all';
  /** Name of the channel that the messages were in. */
  readonly channelName?: string | undefined;
}

/**
 * The `update_message` event: new content of one message, or a move of some, or both. It tells of the messages as
 * they were; `messages` are in rising order, and `main` is the one whose content and flags it tells.
 */
export function updateEvent(
  main: MessageHead & Partial<Pick<Message, 'content' | 'rendered'>>,
  messages: readonly MessageHead[],
  { userId, now, rewrite, relocation, mode, channelName }: Updated,
): EventEntry {
  const { channelId, topic = '' } = main;
  // Whoever may read the newest of them may know that the others were there.
  const newest = messages.at(-1) ?? main;
  const hearers = hearersOf(newest);
  const leaves = relocation !== undefined && relocation.channelId !== channelId;
  return {
    kind: 'event',
    hearers: leaves && 'channel' in hearers ? { ...hearers, movedTo: relocation.channelId } : hearers,
    about: aboutOf(main, rewrite, relocation),
    payload: {
      type: 'update_message',
      user_id: userId,
      edit_timestamp: Math.floor(now / 1000),
      message_id: main.id,
      message_ids: messages.map(({ id }) => id),
      rendering_only: false,
      ...(channelId !== undefined && { stream_id: channelId, stream_name: channelName }),
      ...(rewrite && {
        orig_content: main.content,
        orig_rendered_content: main.rendered,
        content: rewrite.content,
        rendered_content: rewrite.rendered.html,
        is_me_message: rewrite.rendered.isMe,
      }),
      ...(relocation && {
        propagate_mode: mode,
        orig_subject: topic,
        ...(topic !== relocation.topic && {
          subject: relocation.topic,
          topic_links: topicLinks(relocation.topic),
        }),
        ...(leaves && { new_stream_id: relocation.channelId }),
      }),
    },
  };
}

/**
 * The event of a move for those who could not read the messages where they were: without the name of that channel, and
 * as if the topic there had the new name. Clients need some topic there, and the channel's id to know of a move.
 */
export function withoutFormerPlace({
  stream_name: _,
  subject,
  topic_links: __,
  ...payload
}: Payload): Payload {
  return { ...payload, ...(subject !== undefined && { orig_subject: subject }) };
}

/** The message as it is after the update, as far as flags need it. */
function aboutOf(
  message: MessageHead,
  rewrite: Rewrite | undefined,
  relocation: Relocation | undefined,
): MessageHead {
  const { id, senderId, readBySender, readIn, people, channelId, topic, conversation } = message;
  const mentions = rewrite ? mentionsIn(rewrite.rendered, channelId !== undefined) : message.mentions;
  const place = relocation
    ? {
        channelId: relocation.channelId,
        topic: relocation.topic,
        conversation: topicConversation(relocation.channelId, relocation.topic),
        readIn: readPlaceOf(message),
      }
    : {
        conversation,
        ...(readIn !== undefined && { readIn }),
        ...(channelId !== undefined && { channelId }),
        ...(topic !== undefined && { topic }),
      };
  return {
    id,
    senderId,
    readBySender,
    ...(people && { people }),
    ...place,
    ...(mentions && { mentions }),
  };
}
