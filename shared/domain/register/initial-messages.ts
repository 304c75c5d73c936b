import { key, partition, sortPrefix } from '../../table/keys.ts';
import { EMPTY_TOPIC_NAME } from '../realm/realm.ts';
import type { Conversation, Dialogue } from '../send/direct.ts';
import type { UserTopic } from '../topic/user-topic.ts';
import { visibility } from '../topic/visibility.ts';
import type { Star } from '../unread/star.ts';
import { loadUnread } from '../unread/unread.ts';
import { unreadObject } from '../unread/unread-object.ts';
import type { Asking, Section } from './initial-section.ts';

const message: Section = ({ maxMessageId }) => ({ max_message_id: maxMessageId });

/** What the caller has not read. That the next look is short again is seen to beside it, and is no part of it. */
const unreadMessages: Section = async ({ outside, caller, capabilities, cursor }) => {
  const unread = await loadUnread(outside, caller.realmId, caller.user.userId);
  await unread.upkeep().catch((error: Error) => outside.report({ level: 'WARN', unread: error.message }));
  const emptyTopicName = capabilities.includes('empty_topic_name');
  return { unread_msgs: unreadObject(unread, caller.standing, { upTo: cursor, emptyTopicName }) };
};

/** The messages that the caller starred. */
const starredMessages: Section = async ({ outside, caller }) => {
  const place = { realm: caller.realmId, userId: caller.user.userId };
  const stars = await outside.table.all<Star>({
    pk: partition('star', place),
    prefix: sortPrefix('star'),
  });
  return { starred_messages: stars.filter(({ removed }) => !removed).map(({ messageId }) => messageId) };
};

/** The caller's policies for topics. Those that were taken back are stored too, and say nothing. */
export async function loadPolicies({
  outside,
  caller,
}: Pick<Asking, 'outside' | 'caller'>): Promise<UserTopic[]> {
  const place = { realm: caller.realmId, userId: caller.user.userId };
  const stored = await outside.table.all<UserTopic>({
    pk: partition('userTopic', place),
    prefix: sortPrefix('userTopic'),
  });
  return stored.filter(({ policy }) => policy !== visibility.inherit);
}

const nameOf = (topic: string, { capabilities }: Asking): string =>
  topic === '' && !capabilities.includes('empty_topic_name') ? EMPTY_TOPIC_NAME : topic;

const userTopics: Section = async (asking) => ({
  user_topics: (await asking.policies()).map(({ channelId, topic, policy, updated }) => ({
    stream_id: channelId,
    topic_name: nameOf(topic, asking),
    visibility_policy: policy,
    last_updated: updated,
  })),
});

/** The list from before there were other policies; left out for clients that name the new one (wire facts 14.5). */
const mutedTopics: Section = async (asking) => {
  if (asking.types?.has('user_topic')) return {};
  const [policies, channels] = await Promise.all([asking.policies(), asking.channels()]);
  const names = new Map(channels.map(({ channel }) => [channel.channelId, channel.name]));
  return {
    muted_topics: policies.flatMap(({ channelId, topic, policy, updated }) => {
      const name = names.get(channelId);
      return policy === visibility.muted && name !== undefined
        ? [[name, nameOf(topic, asking), updated]]
        : [];
    }),
  };
};

/** The direct conversations of the caller, each with its newest message. */
const recentPrivateConversations: Section = async ({ outside, caller }) => {
  const { realmId: realm, user } = caller;
  const dialogues = await outside.table.all<Dialogue>({
    pk: partition('dialogue', { realm, userId: user.userId }),
    prefix: sortPrefix('dialogue'),
  });
  const conversations = await outside.table.getMany<Conversation>(
    dialogues.map(({ conversation }) => key('conversation', { realm, conversation })),
  );
  return {
    recent_private_conversations: conversations
      .sort((a, b) => b.maxId - a.maxId)
      .map(({ people, maxId }) => ({
        max_message_id: maxId,
        user_ids: people.filter((userId) => userId !== user.userId),
      })),
  };
};

export const messageSections = {
  message,
  update_message_flags: unreadMessages,
  starred_messages: starredMessages,
  user_topic: userTopics,
  muted_topics: mutedTopics,
  recent_private_conversations: recentPrivateConversations,
} satisfies Record<string, Section>;
