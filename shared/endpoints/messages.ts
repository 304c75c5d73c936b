import * as z from 'zod/mini';
import { PUSH } from '../domain/push/wake-up.ts';
import { endpoint, reads, writes } from './endpoint.ts';
import { messageFields } from './message-fields.ts';
import { narrowOf } from './narrow.ts';
import { boolean, json, optional, pathId, text, word } from './parameter.ts';

const count = (description: string) => optional(json(description, z.int().check(z.minimum(0))));

/** How messages are to be told, for every endpoint that tells some. */
const telling = {
  apply_markdown: optional(boolean('Whether messages come as HTML; yes if absent.')),
  client_gravatar: optional(
    boolean("Whether the client works out Gravatar's addresses itself; yes if absent."),
  ),
  allow_empty_topic_name: optional(
    boolean('Whether the empty topic is told as such, and not by its display name; no if absent.'),
  ),
} as const;

export const listMessages = endpoint({
  id: 'messages.list',
  method: 'GET',
  path: '/api/v1/messages',
  source: 'https://zulip.com/api/get-messages, wire facts 14.4',
  description:
    'Fetches messages around an anchor or by their IDs, as far as the caller may read them. Narrows to a sender or ' +
    'to mentions look through ten thousand messages at most; `history_limited` tells where that ended a search.',
  access: 'user',
  parameters: {
    anchor: optional(text('`newest`, `oldest`, `first_unread`, or the ID of a message.')),
    use_first_unread_anchor: optional(
      boolean('An older way to say that the anchor is `first_unread`, whatever `anchor` says.'),
    ),
    num_before: count('How many messages before the anchor.'),
    num_after: count('How many messages after the anchor; 5,000 on both sides at most.'),
    include_anchor: optional(boolean('Whether the message at the anchor belongs to them; yes if absent.')),
    narrow: optional(
      json(
        'Conditions that all must hold: `channel`, `topic`, `dm`, `dm-including`, `sender`, `id`, `is`.',
        narrowOf(z.union([z.string(), z.int()])),
      ),
    ),
    message_ids: optional(json('The IDs of the messages, in place of an anchor.', z.array(z.int()))),
    ...telling,
  },
  reply: z.object({
    messages: z.array(z.object(messageFields)),
    /** Behind all messages it is a number that is no ID, beyond what counts as an integer here. */
    anchor: z.optional(z.number()),
    found_anchor: z.boolean(),
    found_oldest: z.boolean(),
    found_newest: z.boolean(),
    history_limited: z.boolean(),
  }),
  errors: ['BAD_NARROW'],
  // It writes nothing but where the next fetch should look.
  needs: { table: [...reads, 'PutItem'] },
  memory: 512,
});

export const getMessage = endpoint({
  id: 'messages.get',
  method: 'GET',
  path: '/api/v1/messages/{message_id}',
  source: 'https://zulip.com/api/get-message, wire facts 14.4',
  description: 'Fetches one message.',
  access: 'user',
  parameters: { message_id: pathId('The ID of the message.'), ...telling },
  reply: z.object({ message: z.object(messageFields), raw_content: z.string() }),
  errors: [],
  needs: { table: reads },
});

export const updateFlags = endpoint({
  id: 'messages.updateFlags',
  method: 'POST',
  path: '/api/v1/messages/flags',
  source: 'https://zulip.com/api/update-message-flags, wire facts 14.3',
  description: 'Marks messages as read or unread, or stars them, for the caller.',
  access: 'user',
  parameters: {
    messages: json('The IDs of the messages, 5,000 at most.', z.array(z.int()).check(z.maxLength(5_000))),
    op: word('Whether the flag is set or taken away.', ['add', 'remove']),
    flag: word('The flag; others cannot be set by clients.', ['read', 'starred']),
  },
  reply: z.object({
    /** The messages that were asked for. What there is not for the caller is left out of what changes only. */
    messages: z.array(z.int()),
    /** Channels of messages that stay read, because what is unread is kept for subscribers only. */
    ignored_because_not_subscribed_channels: z.array(z.int()),
  }),
  errors: [],
  needs: { table: writes, queues: [PUSH] },
  memory: 512,
});
