import { traceOf } from '../../kernel/errors.ts';
import { loadHeads } from '../../model/message/load.ts';
import { type UserTopic, visibility } from '../../model/message/user-topic.ts';
import { EMPTY_TOPIC_NAME } from '../../model/realm/realm.ts';
import { loadUnread } from '../flags/unread.ts';
import { unreadObject } from '../flags/unread-object.ts';
import type { Reader } from '../reader/reader.ts';
import { shownChannels } from './channels.ts';
import { once } from './once.ts';
import type { Asking, Section } from './section.ts';

const message: Section = ({ maxMessageId }) => ({ max_message_id: maxMessageId });

/** What the caller has not read. That the next look is short again is seen to beside it, and is no part of it. */
const unreadMessages: Section = async (asking) => {
  const { outside, caller, capabilities, cursor, reader, hints } = asking;
  const [unread, hidden] = await Promise.all([
    loadUnread(outside, reader, hints.reader),
    hiddenChannels(asking),
  ]);
  await unread
    .upkeep()
    .catch((error: Error) =>
      outside.report({ level: 'WARN', message: 'read state not compacted', error: traceOf(error) }),
    );
  const emptyTopicName = capabilities.includes('empty_topic_name');
  return { unread_msgs: unreadObject(unread, caller.standing, { upTo: cursor, hidden, emptyTopicName }) };
};

/** Archived channels, to clients that cannot handle them: there they could not be read. */
const hiddenChannels = async ({ capabilities, channels }: Asking): Promise<ReadonlySet<number>> =>
  capabilities.includes('archived_channels')
    ? new Set()
    : new Set((await channels()).flatMap(({ channel }) => (channel.isArchived ? channel.channelId : [])));

/** The messages that the caller starred. */
const starredMessages: Section = async ({ outside, caller }) => {
  const place = { realm: caller.realmId, userId: caller.user.userId };
  const stars = await outside.table.all('star', place);
  const ids = stars.filter(({ removed }) => !removed).map(({ messageId }) => messageId);
  // A message that was deleted leaves the stars of those who starred it behind.
  const heads = await loadHeads(outside.table, caller.realmId, ids);
  return { starred_messages: heads.map(({ id }) => id).sort((a, b) => a - b) };
};

/** The policies for topics. Those that were taken back are stored too, and say nothing. */
export const loadPolicies = async (reader: Reader): Promise<UserTopic[]> =>
  (await reader.topicPolicies()).filter(({ policy }) => policy !== visibility.inherit);

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
  const [policies, channels] = await Promise.all([asking.policies(), shownChannels(asking)]);
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
const recentPrivateConversations: Section = async ({ outside, caller, reader, hints }) => {
  const { realmId: realm, user } = caller;
  const load = once((conversation: string) => outside.table.get('conversation', { realm, conversation }));
  for (const { conversation } of await hints.reader.directMemberships()) void load(conversation);
  const dialogues = await reader.directMemberships();
  const conversations = await Promise.all(dialogues.map(({ conversation }) => load(conversation)));
  return {
    recent_private_conversations: conversations
      .filter((conversation) => conversation !== undefined)
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
