import * as z from 'zod/mini';
import { endpoint, writes } from './endpoint.ts';
import { boolean, integer, json, optional, pathId, text } from './parameter.ts';

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
