import * as z from 'zod/mini';
import { capabilityNames } from '../domain/event/queue.ts';
import { endpoint, readsItems, writes } from './endpoint.ts';
import { boolean, integer, json, narrowOf, optional, plainlyRequired, text } from './parameter.ts';

/** Names of event types. They are stored with the queue, so their number and length are limited. */
const eventTypes = z.nullable(z.array(z.string().check(z.maxLength(40))).check(z.maxLength(100)));

export const registerQueue = endpoint({
  id: 'events.register',
  route: 'POST /api/v1/register',
  source: 'wire facts 14.1',
  description: 'Registers an event queue and returns the state that its events update.',
  access: 'user',
  parameters: {
    apply_markdown: optional(
      boolean('Whether message contents are rendered to HTML; default false (Markdown).'),
    ),
    client_gravatar: optional(boolean('Whether the client computes Gravatar URLs itself; default true.')),
    slim_presence: optional(boolean('Whether to return presences in the modern format, by user ID.')),
    presence_history_limit_days: optional(integer('Return presences of this many past days; default 14.', 0)),
    event_types: optional(json('The types of events to receive. Default: all.', eventTypes)),
    fetch_event_types: optional(
      json('The types whose current state to return. Default: those in `event_types`.', eventTypes),
    ),
    all_public_streams: optional(
      boolean('Whether to receive messages of all public channels, subscribed or not.'),
    ),
    include_subscribers: optional(
      text(
        'Whether subscriptions include the IDs of subscribers: `true`, `partial` or `false`.',
        z.enum(['true', 'false', 'partial']),
      ),
    ),
    client_capabilities: optional(
      json(
        'The capabilities of the client, each a boolean.',
        z.looseObject(
          Object.fromEntries(capabilityNames.map((name) => [name, z.optional(z.boolean())])) as Record<
            (typeof capabilityNames)[number],
            z.ZodMiniOptional<z.ZodMiniBoolean>
          >,
        ),
      ),
    ),
    narrow: optional(
      json('Receive only messages that match these filters, given as pairs or objects.', narrowOf(z.int())),
    ),
    queue_lifespan_secs: optional(integer('The older name of `idle_queue_timeout`, in seconds.', 0)),
    idle_queue_timeout: optional(
      text('Seconds without a poll after which the queue is deleted, or `mobile` for half a day.'),
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
  needs: {
    table: [...writes, 'DeleteItem', 'ConditionCheckItem'],
    settings: [
      'UPLOAD_QUOTA_MIB',
      'ZOOM_CLIENT_ID',
      'WEBEX_CLIENT_ID',
      'BIG_BLUE_BUTTON_URL',
      'WEB_PUBLIC_STREAMS_ENABLED',
      'PUSH_RELAY_URL',
      'OIDC_ISSUER',
      'OIDC_CLIENT_ID',
    ],
  },
  timeout: 28,
});

export const getEvents = endpoint({
  id: 'events.get',
  route: 'GET /api/v1/events',
  source: 'wire facts 14.2, companion facts 6.1',
  description: 'Gets the events of a queue, and waits for one if there is none.',
  access: 'user',
  parameters: {
    queue_id: plainlyRequired(text('The `queue_id` from the registration.')),
    last_event_id: plainlyRequired(
      integer('The ID of the last event that the client received. This acknowledges all events up to it.'),
    ),
    dont_block: optional(boolean('Whether to return at once even if there are no events.')),
  },
  reply: z.object({
    queue_id: z.string(),
    events: z.array(z.looseObject({ id: z.int(), type: z.string() })),
  }),
  errors: ['BAD_EVENT_QUEUE_ID'],
  // Links to finished exports are signed with its credentials.
  needs: { table: writes, buckets: { exports: ['GetObject'] } },
  timeout: 28,
  // It waits most of the time, and waiting is billed by memory (docs/COST.md).
  memory: 128,
});

export const deleteQueue = endpoint({
  id: 'events.delete',
  route: 'DELETE /api/v1/events',
  source: 'wire facts 14.2',
  description: 'Deletes an event queue of the caller.',
  access: 'user',
  parameters: { queue_id: text('The `queue_id` from the registration.') },
  errors: ['BAD_EVENT_QUEUE_ID'],
  needs: { table: [...readsItems, 'DeleteItem'] },
});
