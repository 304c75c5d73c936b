import * as z from 'zod/mini';
import { capabilityNames } from '../domain/event/queue.ts';
import { endpoint, reads, writes } from './endpoint.ts';
import { narrowOf } from './narrow.ts';
import { boolean, integer, json, optional, plainlyRequired, text } from './parameter.ts';

/** Names of event types: more of them, or longer ones, do not exist. They are stored with the queue. */
const eventTypes = z.nullable(z.array(z.string().check(z.maxLength(40))).check(z.maxLength(100)));

export const registerQueue = endpoint({
  id: 'events.register',
  method: 'POST',
  path: '/api/v1/register',
  source: 'wire facts 14.1',
  description: 'Registers an event queue and tells the state from which its events go on.',
  access: 'user',
  parameters: {
    apply_markdown: optional(boolean('Whether messages come as HTML; as they were written if absent.')),
    client_gravatar: optional(
      boolean("Whether the client works out Gravatar's addresses itself; yes if absent."),
    ),
    slim_presence: optional(boolean('Whether presences come in their modern form, by user ID.')),
    presence_history_limit_days: optional(
      json('Days back to which presences are told; 14 if absent.', z.int().check(z.minimum(0))),
    ),
    event_types: optional(json('The only types of events that the client wants; all if absent.', eventTypes)),
    fetch_event_types: optional(
      json('The types whose state is told now; those of `event_types` if absent.', eventTypes),
    ),
    all_public_streams: optional(boolean('Messages of all public channels, subscribed or not.')),
    include_subscribers: optional(
      text(
        '`true` or `partial`: subscriptions tell their subscribers.',
        z.enum(['true', 'false', 'partial']),
      ),
    ),
    client_capabilities: optional(
      json(
        'What the client can handle, each as a boolean.',
        z.looseObject(
          Object.fromEntries(capabilityNames.map((name) => [name, z.optional(z.boolean())])) as Record<
            (typeof capabilityNames)[number],
            z.ZodMiniOptional<z.ZodMiniBoolean>
          >,
        ),
      ),
    ),
    narrow: optional(json('Conditions that messages must meet: pairs or objects.', narrowOf(z.int()))),
    queue_lifespan_secs: optional(
      json('Older name of `idle_queue_timeout`, seconds.', z.int().check(z.minimum(0))),
    ),
    idle_queue_timeout: optional(
      text('Seconds without a poll that the queue survives, or `mobile` for half a day.'),
    ),
  },
  reply: z.looseObject({
    queue_id: z.string(),
    last_event_id: z.int(),
    max_message_id: z.int(),
    zulip_version: z.string(),
    zulip_merge_base: z.string(),
    zulip_feature_level: z.int(),
    idle_queue_timeout_secs: z.int(),
    event_queue_longpoll_timeout_seconds: z.int(),
  }),
  errors: ['BAD_REQUEST'],
  needs: {
    table: [...writes, 'DeleteItem', 'ConditionCheckItem'],
    settings: ['ZOOM_CLIENT_ID', 'WEBEX_CLIENT_ID', 'WEB_PUBLIC_STREAMS_ENABLED', 'PUSH_RELAY_URL'],
  },
  timeout: 28,
});

export const getEvents = endpoint({
  id: 'events.get',
  method: 'GET',
  path: '/api/v1/events',
  source: 'wire facts 14.2, companion facts 6.1',
  description: 'Waits for events of a queue.',
  access: 'user',
  parameters: {
    queue_id: plainlyRequired(text('The queue, as registration told it.')),
    last_event_id: plainlyRequired(
      integer('The last event that the client has; with it everything up to there is acknowledged.'),
    ),
    dont_block: optional(boolean('Whether to answer at once even if there is nothing.')),
  },
  reply: z.object({
    queue_id: z.string(),
    events: z.array(z.looseObject({ id: z.int(), type: z.string() })),
  }),
  errors: ['BAD_EVENT_QUEUE_ID', 'BAD_REQUEST'],
  // The links of finished exports are signed in its name.
  needs: { table: [...reads, 'PutItem', 'UpdateItem'], buckets: { exports: ['GetObject'] } },
  timeout: 28,
  // It waits nearly all of its time, and memory is what waiting costs (docs/COST.md).
  memory: 128,
});

export const deleteQueue = endpoint({
  id: 'events.delete',
  method: 'DELETE',
  path: '/api/v1/events',
  source: 'wire facts 14.2',
  description: 'Deletes an event queue of the caller.',
  access: 'user',
  parameters: { queue_id: text('The queue, as registration told it.') },
  reply: z.object({}),
  errors: ['BAD_EVENT_QUEUE_ID'],
  needs: { table: [...reads, 'DeleteItem'] },
});
