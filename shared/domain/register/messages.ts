import { traceOf } from '../../kernel/errors.ts';
import { loadHeads } from '../../model/message/load.ts';
import { mutedTopics, type UserTopic, visibility } from '../../model/message/user-topic.ts';
import { EMPTY_TOPIC_NAME } from '../../model/realm/realm.ts';
import { loadUnread, unreadObject } from '../flags/unread.ts';
import { loadVisibleChannels } from './channels.ts';
import { once, type Sections, type StateContext } from './section.ts';

/** The unread messages of the caller. Also compacts their read state; if that fails, the state is still right. */
async function unreadSection(context: StateContext): Promise<object> {
  const { outside, caller, capabilities, cursor, reader, hints } = context;
  const [unread, hidden] = await Promise.all([
    loadUnread(outside, reader, hints.reader),
    loadHiddenChannels(context),
  ]);
  await unread
    .upkeep()
    .catch((error: Error) =>
      outside.report({ level: 'WARN', message: 'read state not compacted', error: traceOf(error) }),
    );
  const emptyTopicName = capabilities.includes('empty_topic_name');
  return { unread_msgs: unreadObject(unread, caller.standing, { upTo: cursor, hidden, emptyTopicName }) };
}

/** Archived channels, for clients that do not support them and so could not mark their messages as read. */
async function loadHiddenChannels({ capabilities, channels }: StateContext): Promise<ReadonlySet<number>> {
  if (capabilities.includes('archived_channels')) return new Set();
  return new Set((await channels()).flatMap(({ channel }) => (channel.isArchived ? channel.channelId : [])));
}

/** The topic policies of the caller. `inherit` is stored too, and means none. */
const loadPolicies = async ({ reader }: StateContext): Promise<UserTopic[]> =>
  (await reader.topicPolicies()).filter(({ policy }) => policy !== visibility.inherit);

const nameOf = (topic: string, { capabilities }: StateContext): string =>
  topic === '' && !capabilities.includes('empty_topic_name') ? EMPTY_TOPIC_NAME : topic;

/** The list from before there were other policies; left out for clients that name the new one (wire facts 14.5). */
async function mutedTopicsSection(context: StateContext): Promise<object> {
  if (context.types?.has('user_topic')) return {};
  const [policies, channels] = await Promise.all([loadPolicies(context), loadVisibleChannels(context)]);
  const names = new Map(channels.map(({ channel }) => [channel.channelId, channel.name]));
  return { muted_topics: mutedTopics(policies, names, context.capabilities.includes('empty_topic_name')) };
}

/** The direct conversations of the caller, each with its newest message. */
async function conversationsSection({ outside, caller, reader, hints }: StateContext): Promise<object> {
  const { realmId: realm, user } = caller;
  const load = once((conversation: string) => outside.table.get('conversation', { realm, conversation }));
  for (const { conversation } of await hints.reader.directMemberships()) void load(conversation);
  const memberships = await reader.directMemberships();
  const conversations = await Promise.all(memberships.map(({ conversation }) => load(conversation)));
  return {
    recent_private_conversations: conversations
      .filter((conversation) => conversation !== undefined)
      .sort((a, b) => b.maxId - a.maxId)
      .map(({ people, maxId }) => ({
        max_message_id: maxId,
        user_ids: people.filter((userId) => userId !== user.userId),
      })),
  };
}

export const messageSections: Sections = {
  message: ({ maxMessageId }) => ({ max_message_id: maxMessageId }),
  update_message_flags: unreadSection,
  starred_messages: async ({ outside: { table }, caller: { realmId: realm, user } }) => {
    const stars = await table.all('star', { realm, userId: user.userId });
    const ids = stars.filter(({ removed }) => !removed).map(({ messageId }) => messageId);
    // Stars of deleted messages stay stored.
    const heads = await loadHeads(table, realm, ids);
    return { starred_messages: heads.map(({ id }) => id).sort((a, b) => a - b) };
  },
  user_topic: async (context) => ({
    user_topics: (await loadPolicies(context)).map(({ channelId, topic, policy, updated }) => ({
      stream_id: channelId,
      topic_name: nameOf(topic, context),
      visibility_policy: policy,
      last_updated: updated,
    })),
  }),
  muted_topics: mutedTopicsSection,
  recent_private_conversations: conversationsSection,
};
