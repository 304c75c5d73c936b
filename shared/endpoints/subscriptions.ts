import * as z from 'zod/mini';
import { OUTBOX } from '../domain/outbox/outbox.ts';
import { groupSettingSchema } from '../model/permission/permission.ts';
import { endpoint, writes } from './endpoint.ts';
import { channelFields, channelPermissions, forEachSetting, subscriptionFields } from './objects.ts';
import { boolean, ids, json, optional, pathId, text } from './parameter.ts';

const principals = optional(
  json(
    'User IDs or email addresses of the users. Default: the caller.',
    z.union([z.array(z.int()), z.array(z.string())]),
  ),
);

/** Counts as one request for each hundred subscriptions. */
const weightOf = (channels: number, people = 1): number => Math.max(1, Math.ceil((channels * people) / 100));

/** Room for 5,000 channels, each with its color and description. */
const size = { bytes: 2 * 1024 * 1024, values: 30_000 } as const;

const group = (description: string) => optional(json(`For new channels: ${description}`, groupSettingSchema));

/** Channel names by user ID; a string, because JSON has no other keys. */
const namesByUser = z.record(z.string(), z.array(z.string()));

/** Which channels the users are subscribed to now, and which they were already. */
const added = { subscribed: namesByUser, already_subscribed: namesByUser };

/** Which channels the users have left, and which they were not subscribed to. */
const removed = { removed: z.array(z.string()), not_removed: z.array(z.string()) };

const newSubscriptions = z.array(
  z.object({
    name: z.string(),
    color: z.optional(z.nullable(z.string())),
    description: z.optional(z.nullable(z.string())),
  }),
);

export const listSubscriptions = endpoint({
  id: 'subscriptions.list',
  route: 'GET /api/v1/users/me/subscriptions',
  source: 'https://zulip.com/api/get-subscriptions',
  description: 'Lists the channels that the caller is subscribed to.',
  access: 'user',
  parameters: {
    include_subscribers: optional(boolean('Whether to include the IDs of the subscribers of each channel.')),
  },
  reply: z.object({
    subscriptions: z.array(
      z.object({ ...channelFields, ...subscriptionFields, subscribers: z.optional(z.array(z.int())) }),
    ),
  }),
});

/** How long (s) a request about many subscriptions may take. */
const timeout = 28;

/** What joining and creating channels have in common. */
const joining = {
  errors: ['UNAUTHORIZED_PRINCIPAL', 'REQUEST_VARIABLE_INVALID'],
  needs: {
    table: [...writes, 'DeleteItem', 'ConditionCheckItem'],
    queues: [OUTBOX],
    settings: ['WEB_PUBLIC_STREAMS_ENABLED'],
  },
  timeout,
} as const;

/** How new channels are made, and who hears of it. */
const newChannelSettings = {
  announce: optional(
    boolean('Whether new channels are announced in the channel that the organization chose for it.'),
  ),
  invite_only: optional(boolean('Whether new channels are private.')),
  is_web_public: optional(boolean('Whether everybody on the internet can read new channels.')),
  is_default_stream: optional(boolean('Whether new users are subscribed to new channels.')),
  history_public_to_subscribers: optional(
    boolean('Whether new subscribers of a new private channel can read its history.'),
  ),
  message_retention_days: optional(
    text('For new channels: a number of days, `unlimited` or `realm_default`.'),
  ),
  topics_policy: optional(text('Which topics new channels allow.')),
  folder_id: optional(json('The ID of the folder of new channels.', z.nullable(z.int()))),
  ...forEachSetting(channelPermissions, group),
  send_new_subscription_messages: optional(
    boolean(
      'Whether to notify users in direct messages that they were subscribed, unless there are too many; default true.',
    ),
  ),
} as const;

export const addSubscriptions = endpoint({
  id: 'subscriptions.add',
  route: 'POST /api/v1/users/me/subscriptions',
  source: 'https://zulip.com/api/subscribe, specification 4.2, wire facts 4',
  description:
    'Subscribes users to channels. A channel that does not exist is created with the settings in the request.',
  access: 'member',
  parameters: {
    subscriptions: json(
      'The channels: `name`, `color` of the subscription, and `description` for a new channel.',
      newSubscriptions,
    ),
    principals,
    authorization_errors_fatal: optional(
      boolean(
        'Whether one channel that the caller may not join fails the request; otherwise it is listed in `unauthorized`.',
      ),
    ),
    ...newChannelSettings,
  },
  size,
  weight: ({ subscriptions, principals }) => weightOf(subscriptions.length, principals?.length),
  reply: z.object({
    ...added,
    unauthorized: z.optional(z.array(z.string())),
    new_subscription_messages_sent: z.optional(z.boolean()),
  }),
  ...joining,
});

export const createChannel = endpoint({
  id: 'channels.create',
  route: 'POST /api/v1/channels/create',
  source: 'companion facts 4.4',
  description:
    'Creates a channel and subscribes users to it. Unlike subscribing, it refuses a name that is taken.',
  access: 'member',
  parameters: {
    name: text('The name of the channel.'),
    description: optional(text('The description, in Markdown.')),
    subscribers: ids('The IDs of the subscribers; there may be none. The caller is not added by itself.'),
    ...newChannelSettings,
  },
  weight: ({ subscribers }) => weightOf(1, subscribers.length),
  reply: z.object({ id: z.int() }),
  ...joining,
  errors: [...joining.errors, 'CHANNEL_ALREADY_EXISTS'],
});

export const removeSubscriptions = endpoint({
  id: 'subscriptions.remove',
  route: 'DELETE /api/v1/users/me/subscriptions',
  source: 'https://zulip.com/api/unsubscribe',
  description: 'Unsubscribes users from channels.',
  access: 'user',
  parameters: {
    subscriptions: json('The names of the channels.', z.array(z.string())),
    principals,
  },
  size,
  weight: ({ subscriptions, principals }) => weightOf(subscriptions.length, principals?.length),
  reply: z.object(removed),
  needs: { table: [...writes, 'DeleteItem', 'ConditionCheckItem'] },
  timeout,
});

export const setSubscriptionProperties = endpoint({
  id: 'subscriptions.setProperties',
  route: 'POST /api/v1/users/me/subscriptions/properties',
  source: 'https://zulip.com/api/update-subscription-settings',
  description: "Updates the caller's settings for subscribed channels; all changes are made, or none.",
  access: 'user',
  parameters: {
    subscription_data: json(
      'The changes: channel, property (`color`, `is_muted`, `pin_to_top`, or a kind of notification) and value.',
      z
        .array(
          z.object({ stream_id: z.int(), property: z.string(), value: z.union([z.boolean(), z.string()]) }),
        )
        .check(z.maxLength(1_000)),
    ),
  },
  needs: { table: writes },
});

export const changeSubscriptions = endpoint({
  id: 'subscriptions.change',
  route: 'PATCH /api/v1/users/me/subscriptions',
  source: 'https://zulip.com/api/update-subscriptions, companion facts 3.6',
  description: 'Subscribes the caller to some channels and unsubscribes them from others.',
  access: 'member',
  parameters: {
    add: optional(
      json('The channels to subscribe to, as in `POST /users/me/subscriptions`.', newSubscriptions),
    ),
    delete: optional(json('The names of the channels to leave.', z.array(z.string()))),
  },
  size,
  weight: ({ add, delete: gone }) => weightOf((add?.length ?? 0) + (gone?.length ?? 0)),
  reply: z.object({ ...added, ...removed }),
  ...joining,
});

export const setSubscriptionProperty = endpoint({
  id: 'subscriptions.setProperty',
  route: 'PATCH /api/v1/users/me/subscriptions/{stream_id}',
  source: 'https://zulip.com/api/update-subscription-settings, companion facts 4.8',
  description: "Updates one of the caller's settings for a subscribed channel.",
  access: 'user',
  parameters: {
    stream_id: pathId('The ID of the channel.'),
    property: text('`color`, `is_muted`, `pin_to_top`, or a kind of notification.'),
    value: json('The new value.', z.union([z.boolean(), z.string()])),
  },
  needs: { table: writes },
});
