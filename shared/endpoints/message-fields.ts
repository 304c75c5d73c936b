import * as z from 'zod/mini';

/** Somebody in a direct conversation. */
const person = z.object({
  id: z.int(),
  email: z.string(),
  full_name: z.string(),
  is_mirror_dummy: z.boolean(),
});

/** The fields of a message in replies (wire facts 14.4; `shared/model/message/object.ts`). */
export const messageFields = {
  id: z.int(),
  type: z.enum(['stream', 'private']),
  sender_id: z.int(),
  sender_email: z.string(),
  sender_full_name: z.string(),
  sender_realm_str: z.string(),
  avatar_url: z.nullable(z.string()),
  recipient_id: z.int(),
  timestamp: z.int(),
  client: z.string(),
  subject: z.string(),
  topic_links: z.array(z.object({ text: z.string(), url: z.string() })),
  display_recipient: z.union([z.string(), z.array(person)]),
  stream_id: z.optional(z.int()),
  content: z.string(),
  content_type: z.enum(['text/html', 'text/x-markdown']),
  is_me_message: z.boolean(),
  reactions: z.array(
    z.object({
      emoji_name: z.string(),
      emoji_code: z.string(),
      reaction_type: z.string(),
      user_id: z.int(),
    }),
  ),
  submessages: z.array(z.unknown()),
  last_edit_timestamp: z.optional(z.int()),
  last_moved_timestamp: z.optional(z.int()),
  edit_history: z.optional(
    z.array(
      z.object({
        user_id: z.int(),
        timestamp: z.int(),
        /** What it said before: of its last edit, and of earlier ones as far as that is little. */
        prev_content: z.optional(z.string()),
        prev_rendered_content: z.optional(z.string()),
        topic: z.optional(z.string()),
        prev_topic: z.optional(z.string()),
        stream: z.optional(z.int()),
        prev_stream: z.optional(z.int()),
      }),
    ),
  ),
  flags: z.array(z.string()),
} as const;
