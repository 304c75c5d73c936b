import * as z from 'zod/mini';
import { endpoint, writes } from './endpoint.ts';
import { boolean, integer, json, optional, pathId, text, word } from './parameter.ts';

export const allowEmptyTopicName = optional(
  boolean('Whether the empty topic is returned as an empty string, not as its display name; default false.'),
);

export const listTopics = endpoint({
  id: 'topics.list',
  route: 'GET /api/v1/users/me/{stream_id}/topics',
  source: 'https://zulip.com/api/get-stream-topics',
  description: 'Lists the topics of a channel that the caller can read, newest message first.',
  access: 'user',
  parameters: {
    stream_id: pathId('The ID of the channel.'),
    allow_empty_topic_name: allowEmptyTopicName,
  },
  reply: z.object({ topics: z.array(z.object({ name: z.string(), max_id: z.int() })) }),
});

export const setTopicVisibility = endpoint({
  id: 'topics.setVisibility',
  route: 'POST /api/v1/user_topics',
  source: 'https://zulip.com/api/update-user-topic, wire facts 3.10',
  description: "Sets the caller's visibility policy for a topic.",
  access: 'user',
  parameters: {
    stream_id: integer('The ID of the channel.'),
    topic: text('The topic.'),
    visibility_policy: json(
      '0 none, 1 muted, 2 unmuted, 3 followed.',
      z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]),
    ),
  },
  needs: { table: [...writes, 'DeleteItem'] },
});

export const deleteTopic = endpoint({
  id: 'topics.delete',
  route: 'POST /api/v1/streams/{stream_id}/delete_topic',
  source: 'https://zulip.com/api/delete-topic, companion facts 4.5',
  description:
    'Deletes the messages of a topic that the caller can read, newest first. `complete` is false if the time was over: repeat the request.',
  access: 'administrator',
  parameters: {
    stream_id: pathId('The ID of the channel.'),
    topic_name: text('The topic.'),
  },
  reply: z.object({ complete: z.boolean() }),
  needs: { table: [...writes, 'DeleteItem', 'ConditionCheckItem'] },
  timeout: 28,
});

export const muteTopic = endpoint({
  id: 'topics.mute',
  route: 'PATCH /api/v1/users/me/subscriptions/muted_topics',
  source: 'https://zulip.com/api/mute-topic, companion facts 3.7',
  description: 'Mutes a topic for the caller, or ends that. Deprecated: use `POST /user_topics`.',
  access: 'user',
  parameters: {
    topic: text('The topic.'),
    op: word('Whether to mute it or to end that.', ['add', 'remove']),
    stream_id: optional(integer('The ID of the channel. Send either this or `stream`.')),
    stream: optional(text('The name of the channel.')),
  },
  needs: { table: [...writes, 'DeleteItem'] },
});
