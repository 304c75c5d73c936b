import * as z from 'zod/mini';
import { OUTBOX } from '../domain/outbox/outbox.ts';
import { groupSettingSchema } from '../model/permission/permission.ts';
import { channelFields, subscriptionFields } from './channel-fields.ts';
import { endpoint, reads, writes } from './endpoint.ts';
import { boolean, json, optional, text } from './parameter.ts';

const principals = optional(
  json(
    'The people it is about: user IDs or email addresses. Without any, the caller.',
    z.union([z.array(z.int()), z.array(z.string())]),
  ),
);

/** One request for each hundred subscriptions. */
const weightOf = (channels: number, people = 1): number => Math.max(1, Math.ceil((channels * people) / 100));

/** Room for 5,000 channels, each with its color and description. */
const size = { bytes: 2 * 1024 * 1024, values: 30_000 } as const;

const group = (description: string) =>
  optional(json(`Of a channel that is created: ${description}`, groupSettingSchema));

/** The subscriptions of people by id, as text since JSON has no other keys. */
const namesByUser = z.record(z.string(), z.array(z.string()));

export const listSubscriptions = endpoint({
  id: 'subscriptions.list',
  method: 'GET',
  path: '/api/v1/users/me/subscriptions',
  source: 'https://zulip.com/api/get-subscriptions',
  description: 'Lists the channels that the caller is subscribed to.',
  access: 'user',
  parameters: {
    include_subscribers: optional(boolean('Whether each channel comes with the ids of its subscribers.')),
  },
  reply: z.object({
    subscriptions: z.array(
      z.object({ ...channelFields, ...subscriptionFields, subscribers: z.optional(z.array(z.int())) }),
    ),
  }),
  errors: [],
  needs: { table: reads },
});

export const addSubscriptions = endpoint({
  id: 'subscriptions.add',
  method: 'POST',
  path: '/api/v1/users/me/subscriptions',
  source: 'https://zulip.com/api/subscribe, specification 4.2, wire facts 4',
  description:
    'Subscribes people to channels; a channel that does not exist is created with the settings given.',
  access: 'member',
  parameters: {
    subscriptions: json(
      'The channels: `name`, and `color` of the subscription, and `description` of a channel that is created.',
      z.array(
        z.object({
          name: z.string(),
          color: z.optional(z.nullable(z.string())),
          description: z.optional(z.nullable(z.string())),
        }),
      ),
    ),
    principals,
    authorization_errors_fatal: optional(
      boolean('Whether one channel that the caller may not join refuses all; else it is listed.'),
    ),
    announce: optional(
      boolean(
        'Whether channels that are created are announced where the organization wants to hear of them.',
      ),
    ),
    invite_only: optional(boolean('Whether channels that are created are private.')),
    is_web_public: optional(
      boolean('Whether channels that are created are shown to everybody on the internet.'),
    ),
    is_default_stream: optional(boolean('Whether new users are subscribed to channels that are created.')),
    history_public_to_subscribers: optional(
      boolean('Whether new subscribers of a private channel that is created can read its history.'),
    ),
    message_retention_days: optional(text('Days; `unlimited`; or `realm_default`.')),
    topics_policy: optional(text('Which topics channels that are created allow.')),
    folder_id: optional(json('The folder of channels that are created.', z.nullable(z.int()))),
    can_add_subscribers_group: group('who may add subscribers.'),
    can_administer_channel_group: group('who may administer it.'),
    can_create_topic_group: group('who may start topics.'),
    can_delete_any_message_group: group('who may delete any message.'),
    can_delete_own_message_group: group('who may delete their own messages.'),
    can_move_messages_out_of_channel_group: group('who may move messages out of it.'),
    can_move_messages_within_channel_group: group('who may move messages within it.'),
    can_remove_subscribers_group: group('who may remove subscribers.'),
    can_resolve_topics_group: group('who may resolve topics.'),
    can_send_message_group: group('who may post.'),
    can_subscribe_group: group('who may subscribe themselves.'),
    send_new_subscription_messages: optional(
      boolean(
        'Whether people are told in direct messages that they were subscribed, unless they are too many; yes if absent.',
      ),
    ),
  },
  size,
  weight: ({ subscriptions, principals }) => weightOf(subscriptions.length, principals?.length),
  reply: z.object({
    subscribed: namesByUser,
    already_subscribed: namesByUser,
    unauthorized: z.optional(z.array(z.string())),
    new_subscription_messages_sent: z.optional(z.boolean()),
  }),
  errors: ['UNAUTHORIZED_PRINCIPAL', 'REQUEST_VARIABLE_INVALID'],
  needs: {
    table: [...writes, 'DeleteItem', 'ConditionCheckItem'],
    queues: [OUTBOX],
    settings: ['WEB_PUBLIC_STREAMS_ENABLED'],
  },
  timeout: 28,
});

export const removeSubscriptions = endpoint({
  id: 'subscriptions.remove',
  method: 'DELETE',
  path: '/api/v1/users/me/subscriptions',
  source: 'https://zulip.com/api/unsubscribe',
  description: 'Unsubscribes people from channels.',
  access: 'user',
  parameters: {
    subscriptions: json('The names of the channels.', z.array(z.string())),
    principals,
  },
  size,
  weight: ({ subscriptions, principals }) => weightOf(subscriptions.length, principals?.length),
  reply: z.object({ removed: z.array(z.string()), not_removed: z.array(z.string()) }),
  errors: [],
  needs: { table: [...writes, 'DeleteItem', 'ConditionCheckItem'] },
  timeout: 28,
});
